/** Numbers that nothing of this organization calls. */

import { Anchor, Button, Table, Textarea, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { DataTable, Pager } from "../../../components/tables/data-table";
import { FormDialog } from "../../../components/forms/dialog";
import { Empty, Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { usePermissions } from "../../../lib/organization/organization-context";
import { problemsOf } from "../../../lib/api/errors";
import { fieldMessage } from "../../../lib/api/field-messages";
import { formatDateTime, pluralize, humanize } from "../../../lib/format/format";
import { useForm } from "../../../lib/ui/use-form";
import { useLastPage } from "../../../lib/ui/last-page";
import { notifySuccess, notifyError } from "../../../lib/ui/notifications";
import { useAddDoNotCall, useDoNotCall, useRemoveDoNotCall } from "./api";

const COLUMNS = [
  { title: "Number" },
  { title: "Reason" },
  { title: "Source" },
  { title: "Added" },
  { title: "Actions", isQuiet: true },
];

export default function DoNotCallSection() {
  const permissions = usePermissions();
  const [typed, setTyped] = useState("");
  const [search] = useDebouncedValue(typed, 300);
  const [page, setPage] = useState(1);
  const [isAdding, setIsAdding] = useState(false);
  const list = useDoNotCall(search, page);
  useLastPage(page, list, setPage);
  const remove = useRemoveDoNotCall();
  const add = permissions.write && (
    <Button size="sm" onClick={() => setIsAdding(true)}>
      Add numbers
    </Button>
  );
  return (
    <>
      <Panel title="Do not call" right={add}>
        <div style={{ padding: "14px 18px 4px" }}>
          <TextInput
            aria-label="Find a number"
            placeholder="Find a number"
            value={typed}
            maw={300}
            onChange={(event) => {
              setTyped(event.currentTarget.value);
              setPage(1);
            }}
          />
        </div>
        <Loaded query={list} what="The do-not-call list">
          {(data) =>
            data.entries.length === 0 ? (
              <Empty isInside title={search === "" ? "No numbers yet" : "No matching numbers"}>
                Outbound calls check this list first. Callers who ask not to be called are added automatically.
              </Empty>
            ) : (
              <>
                <DataTable label="Do not call" columns={COLUMNS}>
                  {data.entries.map((entry) => (
                    <Table.Tr key={entry.id}>
                      <Table.Td fw={600}>{entry.phone_number}</Table.Td>
                      <Table.Td>{entry.reason ?? "–"}</Table.Td>
                      <Table.Td>
                        {humanize(entry.source)}
                        {entry.run_id !== null && (
                          <Anchor fz="sm" ml={6} renderRoot={(props) => <Link to="/runs" {...props} />}>
                            run {entry.run_id}
                          </Anchor>
                        )}
                      </Table.Td>
                      <Table.Td c="dimmed">{formatDateTime(entry.created_at)}</Table.Td>
                      <Table.Td ta="right">
                        {permissions.write && (
                          <Button
                            size="compact-sm"
                            variant="subtle"
                            color="red"
                            aria-label={`Remove ${entry.phone_number}`}
                            onClick={() =>
                              remove.mutate(entry.id, {
                                onSuccess: () => notifySuccess(`${entry.phone_number} removed.`),
                                onError: notifyError,
                              })
                            }
                          >
                            Remove
                          </Button>
                        )}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </DataTable>
                <Pager
                  page={page}
                  pages={data.total_pages}
                  total={data.total_count}
                  what="numbers"
                  onChange={setPage}
                />
              </>
            )
          }
        </Loaded>
      </Panel>
      {isAdding && <DoNotCallForm onClose={() => setIsAdding(false)} />}
    </>
  );
}

export function DoNotCallForm({ onClose }: { onClose: () => void }) {
  const add = useAddDoNotCall();
  const form = useForm({ numbers: "", reason: "" }, add.error, {
    places: { numbers: "phone_numbers" },
    labels: { phone_numbers: "Numbers" },
  });
  const numbers = form.values.numbers
    .split(/[\n,;]+/)
    .map((number) => number.trim())
    .filter((number) => number !== "");
  const [asked, setAsked] = useState<string[]>([]);
  const submit = () => {
    setAsked(numbers);
    add.mutate(
      { numbers, reason: form.values.reason },
      {
        onSuccess: ({ added, already_listed: known }) => {
          notifySuccess(`${pluralize(added, "number")} added${known > 0 ? `, ${known} already on the list` : ""}.`);
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title="Add numbers"
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Add"
      isBusy={add.isPending}
      isDisabled={numbers.length === 0}
      problem={form.problem}
    >
      <Textarea
        label="Numbers"
        description="One per line, with the country code"
        autosize
        minRows={3}
        maxRows={10}
        data-autofocus
        {...form.text("numbers")}
        error={wrongOf(add.error, asked)}
      />
      <TextInput label="Reason" {...form.text("reason")} />
    </FormDialog>
  );
}

/** Which of the numbers that were sent is wrong, and how. */
function wrongOf(error: unknown, sent: readonly string[]): string | undefined {
  const problem = problemsOf(error).find(({ path }) => path.split(".")[0] === "phone_numbers");
  if (problem === undefined) return undefined;
  const number = sent[Number(problem.path.split(".")[1])];
  return number === undefined ? fieldMessage("Numbers", problem) : `${number}: ${fieldMessage("The number", problem)}`;
}
