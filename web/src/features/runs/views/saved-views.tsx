/** The saved views of the list of runs: open one, save the filters as one, change it. */

import { Button, Menu } from "@mantine/core";
import { Bookmark, Check, Pencil, RefreshCw, Save, Trash2, Users } from "lucide-react";
import { useState } from "react";
import { Confirm } from "../../../components/forms/dialog";
import { notifyError, notifySuccess } from "../../../lib/ui/notifications";
import { countFilters, type RunSearch } from "../list/search";
import { type RunView, useDeleteView, useUpdateView, useViews } from "./api";
import { ViewForm } from "./view-form";
import { findOpenView, searchOf, searchToSave } from "./view-search";

interface SavedViewsProps {
  search: RunSearch;
  onOpen: (search: RunSearch) => void;
}

export function SavedViews({ search, onOpen }: SavedViewsProps) {
  const views = useViews().data ?? [];
  const [lastId, setLastId] = useState<number | null>(null);
  const [dialog, setDialog] = useState<"save" | "edit" | "delete" | null>(null);
  const open = findOpenView(views, search);
  /** The one that was opened and then changed. */
  const changed = open === undefined ? views.find((view) => view.id === lastId && view.can_edit) : undefined;
  const edited = open ?? changed;
  const canSave = countFilters(search) > 0 || search.sort !== undefined;
  const choose = (view: RunView) => {
    setLastId(view.id);
    onOpen(searchOf(view));
  };
  return (
    <>
      <Menu position="bottom-end" withinPortal width={280}>
        <Menu.Target>
          <Button variant="default" leftSection={<Bookmark size={16} />} maw={260}>
            {open?.name ?? "Views"}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.length === 0 && <Menu.Label>No saved views yet. Set filters, then save them as a view.</Menu.Label>}
          {views.map((view) => (
            <Menu.Item
              key={view.id}
              leftSection={view.id === open?.id ? <Check size={15} /> : <span style={{ width: 15 }} />}
              rightSection={view.is_shared ? <Users size={14} aria-label="Shared" /> : null}
              onClick={() => choose(view)}
            >
              {view.name}
            </Menu.Item>
          ))}
          <Menu.Divider />
          {changed !== undefined && canSave && <Replace view={changed} search={search} />}
          {open === undefined && (
            // Not `disabled`: the keyboard must find an item in a menu that has no other.
            <Menu.Item
              leftSection={<Save size={15} />}
              data-disabled={canSave ? undefined : true}
              onClick={() => canSave && setDialog("save")}
            >
              Save as a new view
            </Menu.Item>
          )}
          {open !== undefined && (
            <>
              <Menu.Item leftSection={<Pencil size={15} />} disabled={!open.can_edit} onClick={() => setDialog("edit")}>
                Rename or share
              </Menu.Item>
              <Menu.Item
                leftSection={<Trash2 size={15} />}
                color="red"
                disabled={!open.can_edit}
                onClick={() => setDialog("delete")}
              >
                Delete view
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {dialog === "save" && <ViewForm view={null} search={search} onClose={() => setDialog(null)} />}
      {dialog === "edit" && edited && <ViewForm view={edited} search={search} onClose={() => setDialog(null)} />}
      {dialog === "delete" && edited && <DeleteView view={edited} onClose={() => setDialog(null)} />}
    </>
  );
}

function Replace({ view, search }: { view: RunView; search: RunSearch }) {
  const update = useUpdateView(view.id);
  const replace = () =>
    update.mutate(
      { search: searchToSave(search) as Record<string, never> },
      { onSuccess: () => notifySuccess("View saved."), onError: notifyError },
    );
  return (
    <Menu.Item leftSection={<RefreshCw size={15} />} onClick={replace}>
      Save changes to “{view.name}”
    </Menu.Item>
  );
}

function DeleteView({ view, onClose }: { view: RunView; onClose: () => void }) {
  const remove = useDeleteView();
  return (
    <Confirm
      title={`Delete “${view.name}”?`}
      isOpen
      onClose={onClose}
      onConfirm={() => remove.mutate(view.id, { onSuccess: onClose })}
      confirm="Delete view"
      isBusy={remove.isPending}
      error={remove.error}
    >
      {view.is_shared ? "It disappears for everyone in the organization. " : ""}No runs are deleted.
    </Confirm>
  );
}
