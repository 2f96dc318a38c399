/** Webhooks: where events of this organization are sent, and what became of each. */

import { Badge, Button, Group, Menu, Stack, Switch, Table, Text } from "@mantine/core";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { DataTable } from "../../../components/tables/data-table";
import { Confirm } from "../../../components/forms/dialog";
import { Empty, Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { SecretOnce } from "../../../components/forms/secret";
import { formatTimeAgo } from "../../../lib/format/format";
import { notifySuccess, notifyError } from "../../../lib/ui/notifications";
import type { Schema } from "../../../lib/api/types";
import { useDeleteWebhook, useEnableWebhook, useRotateSecret, useTestWebhook, useWebhooks } from "./api";
import { Deliveries } from "./deliveries";
import { type EventName, WebhookForm } from "./webhook-form";

type Webhook = Schema<"WebhookResponse">;

const COLUMNS = [
  { title: "URL" },
  { title: "Events" },
  { title: "Last success" },
  { title: "Enabled", width: 80 },
  { title: "Actions", isQuiet: true },
];

export default function WebhooksSection() {
  const webhooks = useWebhooks();
  const [edited, setEdited] = useState<Webhook | "new" | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [openId, setOpenId] = useState<number | null>(null);
  const add = (
    <Button size="sm" onClick={() => setEdited("new")}>
      New webhook
    </Button>
  );
  const open = webhooks.data?.webhooks.find((webhook) => webhook.id === openId);
  return (
    <Stack gap="md">
      {secret && (
        <SecretOnce
          value={secret}
          label="secret"
          hint="Use it to verify signatures on your server. It is not shown again, but you can rotate it."
        />
      )}
      <Panel title="Webhooks" right={(webhooks.data?.webhooks.length ?? 0) > 0 && add}>
        <Loaded query={webhooks} what="The webhooks">
          {(data) =>
            data.webhooks.length === 0 ? (
              <Empty isInside title="No webhooks yet" action={add}>
                Get notified when runs, campaigns, and documents finish. Events are signed, numbered, and retried for a
                day until your server responds.
              </Empty>
            ) : (
              <DataTable label="Webhooks" columns={COLUMNS} isTight>
                {data.webhooks.map((webhook) => (
                  <WebhookRow
                    key={webhook.id}
                    webhook={webhook}
                    onEdit={() => setEdited(webhook)}
                    onLog={() => setOpenId(webhook.id)}
                    onSecret={setSecret}
                  />
                ))}
              </DataTable>
            )
          }
        </Loaded>
      </Panel>
      {open && <Deliveries key={open.id} webhook={open} onClose={() => setOpenId(null)} />}
      {edited !== null && (
        <WebhookForm
          webhook={edited === "new" ? null : edited}
          events={(webhooks.data?.event_types ?? []) as EventName[]}
          onClose={() => setEdited(null)}
          onMade={setSecret}
        />
      )}
    </Stack>
  );
}

interface RowProps {
  webhook: Webhook;
  onEdit: () => void;
  onLog: () => void;
  onSecret: (secret: string) => void;
}

function WebhookRow({ webhook, onEdit, onLog, onSecret }: RowProps) {
  const enable = useEnableWebhook();
  const test = useTestWebhook();
  const rotate = useRotateSecret();
  const remove = useDeleteWebhook();
  const [isAsking, setIsAsking] = useState(false);
  const tell = (answer: Schema<"WebhookTested">) =>
    answer.delivered
      ? notifySuccess(`The server responded with ${answer.status_code} in ${answer.duration_ms} ms.`)
      : notifyError(new Error(`Not delivered: ${answer.error ?? `the server responded with ${answer.status_code}`}`));
  return (
    <Table.Tr>
      <Table.Td maw={240}>
        <Text fz="sm" fw={600} truncate title={webhook.url}>
          {webhook.url}
        </Text>
        {webhook.description && (
          <Text fz="xs" c="dimmed" truncate>
            {webhook.description}
          </Text>
        )}
      </Table.Td>
      <Table.Td style={{ whiteSpace: "normal" }}>
        {webhook.events.length === 0 ? "All" : webhook.events.join(", ")}
      </Table.Td>
      <Table.Td c="dimmed">
        {webhook.status === "failing" ? (
          <Badge color="red">Failing</Badge>
        ) : webhook.last_success_at ? (
          formatTimeAgo(webhook.last_success_at)
        ) : (
          "None yet"
        )}
      </Table.Td>
      <Table.Td>
        <Switch
          aria-label={`Send events to ${webhook.url}`}
          checked={webhook.status === "enabled"}
          disabled={enable.isPending}
          onChange={(event) =>
            enable.mutate({ id: webhook.id, isEnabled: event.currentTarget.checked }, { onError: notifyError })
          }
        />
      </Table.Td>
      <Table.Td>
        <Group gap={6} justify="flex-end" wrap="nowrap">
          <Button
            size="compact-sm"
            variant="subtle"
            onClick={() => test.mutate(webhook.id, { onSuccess: tell, onError: notifyError })}
            loading={test.isPending}
            aria-label={`Test ${webhook.url}`}
          >
            Test
          </Button>
          <Button size="compact-sm" variant="subtle" onClick={onLog} aria-label={`Deliveries to ${webhook.url}`}>
            Deliveries
          </Button>
          <Menu position="bottom-end" withinPortal>
            <Menu.Target>
              <Button size="compact-sm" variant="subtle" color="gray" aria-label={`More actions for ${webhook.url}`}>
                <Ellipsis size={16} />
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={onEdit}>Edit</Menu.Item>
              <Menu.Item
                onClick={() =>
                  rotate.mutate(webhook.id, { onSuccess: (answer) => onSecret(answer.secret), onError: notifyError })
                }
              >
                Rotate secret
              </Menu.Item>
              <Menu.Item color="var(--bad)" onClick={() => setIsAsking(true)}>
                Delete
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </Group>
        <Confirm
          title="Delete this webhook?"
          isOpen={isAsking}
          onClose={() => setIsAsking(false)}
          onConfirm={() => remove.mutate(webhook.id)}
          confirm="Delete"
          isBusy={remove.isPending}
          error={remove.error}
        >
          {webhook.url} will no longer receive events, and its delivery log will be deleted.
        </Confirm>
      </Table.Td>
    </Table.Tr>
  );
}
