/** The form that saves the filters of the list under a name, or renames and shares a saved view. */

import { Switch, TextInput } from "@mantine/core";
import { FormDialog } from "../../../components/forms/dialog";
import { usePermissions } from "../../../lib/organization/organization-context";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useForm } from "../../../lib/ui/use-form";
import type { RunSearch } from "../list/search";
import { type RunView, useSaveView, useUpdateView } from "./api";
import { searchToSave } from "./view-search";

interface ViewFormProps {
  /** Null for a new one, which keeps `search`. */
  view: RunView | null;
  search: RunSearch;
  onClose: () => void;
}

export function ViewForm({ view, search, onClose }: ViewFormProps) {
  const canShare = usePermissions().write;
  const save = useSaveView();
  const update = useUpdateView(view?.id ?? 0);
  const request = view === null ? save : update;
  const form = useForm({ name: view?.name ?? "", is_shared: view?.is_shared ?? false }, request.error);
  const done = {
    onSuccess: () => {
      notifySuccess("View saved.");
      onClose();
    },
  };
  const submit = () =>
    view === null
      ? save.mutate({ ...form.values, search: searchToSave(search) as Record<string, never> }, done)
      : update.mutate(form.values, done);
  return (
    <FormDialog
      title={view === null ? "Save view" : "Edit view"}
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Save"
      isBusy={request.isPending}
      problem={form.problem}
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        placeholder="Failed this month"
        maxLength={80}
        {...form.text("name")}
      />
      {canShare && (
        <Switch
          label="Share with the organization"
          description="Everyone sees it. Only you and admins can change it."
          {...form.check("is_shared")}
        />
      )}
    </FormDialog>
  );
}
