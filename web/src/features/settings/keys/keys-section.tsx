/** API keys: made, shown once, archived. */

import { Badge, Button, Code, Group, Stack, Switch, Table, Text } from "@mantine/core";
import { useState } from "react";
import { DataTable } from "../../../components/tables/data-table";
import { Confirm } from "../../../components/forms/dialog";
import { Empty, Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { SecretOnce } from "../../../components/forms/secret";
import { formatDateTime, formatTimeAgo, humanize } from "../../../lib/format/format";
import { notifySuccess, notifyError } from "../../../lib/ui/notifications";
import type { Schema } from "../../../lib/api/types";
import { useArchiveKey, useKeys } from "./api";
import { KeyForm } from "./key-form";

type Key = Schema<"ApiKeyResponse">;

const COLUMNS = [
  { title: "Name" },
  { title: "Key" },
  { title: "Role" },
  { title: "Expires" },
  { title: "Last used" },
  { title: "Created" },
  { title: "Actions", isQuiet: true },
];

export default function KeysSection() {
  const [hasArchived, setHasArchived] = useState(false);
  const [isMaking, setIsMaking] = useState(false);
  const [fresh, setFresh] = useState<Schema<"ApiKeyCreated"> | null>(null);
  const keys = useKeys(hasArchived);
  const make = (
    <Button size="sm" onClick={() => setIsMaking(true)}>
      New key
    </Button>
  );
  return (
    <Stack gap="md">
      {fresh && (
        <SecretOnce
          value={fresh.key}
          label="key"
          hint={`“${fresh.name}” is shown only once. Store it in a safe place.`}
        />
      )}
      <Panel
        title="API keys"
        right={
          <Group>
            <Switch
              label="Archived"
              checked={hasArchived}
              onChange={(event) => setHasArchived(event.currentTarget.checked)}
            />
            {(keys.data?.api_keys.length ?? 0) > 0 && make}
          </Group>
        }
      >
        <Loaded query={keys} what="The keys">
          {(data) =>
            data.api_keys.length === 0 ? (
              <Empty isInside title="No keys yet" action={make}>
                Programs authenticate with the X-API-Key header to start calls, read runs, and upload contacts.
              </Empty>
            ) : (
              <DataTable label="API keys" columns={COLUMNS}>
                {data.api_keys.map((key) => (
                  <KeyRow key={key.id} apiKey={key} />
                ))}
              </DataTable>
            )
          }
        </Loaded>
      </Panel>
      {isMaking && <KeyForm onClose={() => setIsMaking(false)} onMade={setFresh} />}
    </Stack>
  );
}

function KeyRow({ apiKey }: { apiKey: Key }) {
  const [isAsking, setIsAsking] = useState(false);
  const archive = useArchiveKey();
  const isArchived = apiKey.archived_at !== null;
  const change = () =>
    archive.mutate(
      { id: apiKey.id, isArchived },
      {
        onSuccess: () => {
          notifySuccess(isArchived ? `“${apiKey.name}” reactivated.` : `“${apiKey.name}” archived.`);
          setIsAsking(false);
        },
        onError: notifyError,
      },
    );
  return (
    <Table.Tr>
      <Table.Td fw={600}>{apiKey.name}</Table.Td>
      <Table.Td>
        <Code>{apiKey.prefix}…</Code>
      </Table.Td>
      <Table.Td>
        {isArchived ? <Badge color="gray">Archived</Badge> : humanize(apiKey.role)}
        <Text fz="xs" c="dimmed">
          {apiKey.scopes.map(humanize).join(", ")}
          {apiKey.networks.length > 0 && ` from ${apiKey.networks.join(", ")}`}
        </Text>
      </Table.Td>
      <Table.Td c="dimmed">{apiKey.expires_at ? formatDateTime(apiKey.expires_at) : "Never"}</Table.Td>
      <Table.Td c="dimmed">{apiKey.last_used_at ? formatTimeAgo(apiKey.last_used_at) : "Never"}</Table.Td>
      <Table.Td c="dimmed">{formatDateTime(apiKey.created_at)}</Table.Td>
      <Table.Td ta="right">
        <Button
          size="compact-sm"
          variant="subtle"
          color={isArchived ? "brand" : "red"}
          onClick={() => (isArchived ? change() : setIsAsking(true))}
          aria-label={`${isArchived ? "Reactivate" : "Archive"} ${apiKey.name}, ${apiKey.prefix}`}
        >
          {isArchived ? "Reactivate" : "Archive"}
        </Button>
        <Confirm
          title={`Archive “${apiKey.name}”?`}
          isOpen={isAsking}
          onClose={() => setIsAsking(false)}
          onConfirm={change}
          confirm="Archive"
          isBusy={archive.isPending}
        >
          Requests with this key will be rejected. You can reactivate it later.
        </Confirm>
      </Table.Td>
    </Table.Tr>
  );
}
