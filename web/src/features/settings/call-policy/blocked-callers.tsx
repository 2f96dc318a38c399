/** Callers whose calls are refused. */

import { Button, Table, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "../../../components/forms/dialog";
import { Empty, Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { DataTable, Pager } from "../../../components/tables/data-table";
import { formatDateTime } from "../../../lib/format/format";
import { usePermissions } from "../../../lib/organization/organization-context";
import { useLastPage } from "../../../lib/ui/last-page";
import { notifyError, notifySuccess } from "../../../lib/ui/notifications";
import { useForm } from "../../../lib/ui/use-form";
import { useBlockCaller, useBlockedCallers, useUnblockCaller } from "./api";

const COLUMNS = [{ title: "Number" }, { title: "Reason" }, { title: "Added" }, { title: "Actions", isQuiet: true }];

export function BlockedCallers() {
  const { write } = usePermissions();
  const [page, setPage] = useState(1);
  const [isAdding, setIsAdding] = useState(false);
  const list = useBlockedCallers(page);
  useLastPage(page, list, setPage);
  const unblock = useUnblockCaller();
  const add = write && (
    <Button size="sm" onClick={() => setIsAdding(true)}>
      Block a caller
    </Button>
  );
  return (
    <Panel title="Blocked callers" right={add}>
      <Loaded query={list} what="The blocked callers">
        {(data) =>
          data.entries.length === 0 ? (
            <Empty isInside title="No blocked callers">
              Blocked callers hear a short message, and their call is rejected.
            </Empty>
          ) : (
            <>
              <DataTable label="Blocked callers" columns={COLUMNS}>
                {data.entries.map((entry) => (
                  <Table.Tr key={entry.id}>
                    <Table.Td fw={600}>{entry.phone_number}</Table.Td>
                    <Table.Td>{entry.reason ?? "–"}</Table.Td>
                    <Table.Td c="dimmed">{formatDateTime(entry.created_at)}</Table.Td>
                    <Table.Td ta="right">
                      {write && (
                        <Button
                          size="compact-sm"
                          variant="subtle"
                          aria-label={`Unblock ${entry.phone_number}`}
                          onClick={() =>
                            unblock.mutate(entry.id, {
                              onSuccess: () => notifySuccess(`${entry.phone_number} can call again.`),
                              onError: notifyError,
                            })
                          }
                        >
                          Unblock
                        </Button>
                      )}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
              <Pager page={page} pages={data.total_pages} total={data.total_count} what="callers" onChange={setPage} />
            </>
          )
        }
      </Loaded>
      {isAdding && <BlockForm onClose={() => setIsAdding(false)} />}
    </Panel>
  );
}

function BlockForm({ onClose }: { onClose: () => void }) {
  const block = useBlockCaller();
  const form = useForm({ phone_number: "", reason: "" }, block.error, { labels: { phone_number: "Number" } });
  const submit = () => {
    const { phone_number, reason } = form.values;
    block.mutate(
      { phone_number, reason: reason === "" ? null : reason },
      {
        onSuccess: (entry) => {
          notifySuccess(`${entry.phone_number} is blocked.`);
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title="Block a caller"
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Block"
      isBusy={block.isPending}
      isDisabled={form.values.phone_number.trim() === ""}
      problem={form.problem}
    >
      <TextInput
        label="Number"
        description="With the country code"
        placeholder="+12015550101"
        data-autofocus
        {...form.text("phone_number")}
      />
      <TextInput label="Reason" {...form.text("reason")} />
    </FormDialog>
  );
}
