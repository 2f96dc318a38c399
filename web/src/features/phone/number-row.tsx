/** One number: who answers it, whether calls come from it, and how it leaves the list. */

import { Badge, Button, Group, Menu, Select, Switch, Table, Text } from "@mantine/core";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { Confirm } from "../../components/forms/dialog";
import { usePermissions } from "../../lib/organization/organization-context";
import { useAgentChoices } from "../../lib/organization/agent-names";
import { notifySuccess, notifyError } from "../../lib/ui/notifications";
import { type PhoneNumber, useRemoveNumber, useUpdateNumber } from "./api";

export function NumberRow({ accountId, number }: { accountId: number; number: PhoneNumber }) {
  const permissions = usePermissions();
  const agents = useAgentChoices();
  const update = useUpdateNumber(accountId);
  const answer = (id: string | null) =>
    update.mutate(
      { id: number.id, body: id === null ? { clear_inbound_workflow: true } : { inbound_workflow_id: Number(id) } },
      {
        onSuccess: ({ inbound_workflow_name: name, provider_sync: sync }) =>
          sync && !sync.ok
            ? notifyError(new Error(`Saved, but calls do not reach this server yet: ${sync.message}`))
            : notifySuccess(name ? `${name} answers ${number.address}.` : `No agent answers ${number.address}.`),
        onError: notifyError,
      },
    );
  return (
    <Table.Tr>
      <Table.Td>
        <Names number={number} />
      </Table.Td>
      <Table.Td>
        {permissions.admin ? (
          <Select
            size="xs"
            aria-label={`Agent for ${number.address}`}
            placeholder="No agent"
            clearable
            searchable
            disabled={update.isPending}
            data={agents}
            value={number.inbound_workflow_id === null ? null : String(number.inbound_workflow_id)}
            onChange={answer}
          />
        ) : (
          (number.inbound_workflow_name ?? "No agent")
        )}
      </Table.Td>
      <Table.Td>
        <Switch
          aria-label={`${number.address} is active`}
          checked={number.is_active}
          disabled={!permissions.admin}
          onChange={(event) =>
            update.mutate({ id: number.id, body: { is_active: event.currentTarget.checked } }, { onError: notifyError })
          }
        />
      </Table.Td>
      <Table.Td ta="right">{permissions.admin && <NumberMenu accountId={accountId} number={number} />}</Table.Td>
    </Table.Tr>
  );
}

function Names({ number }: { number: PhoneNumber }) {
  const about = [number.label, number.existing_number && `calls to ${number.existing_number} are forwarded here`]
    .filter(Boolean)
    .join(" · ");
  return (
    <>
      <Group gap={6}>
        <Text span fz="sm" fw={600}>
          {number.address}
        </Text>
        {number.is_primary && <Badge>Primary</Badge>}
        {number.is_default_caller_id && <Badge>Default caller ID</Badge>}
      </Group>
      {about !== "" && (
        <Text fz="xs" c="dimmed">
          {about}
        </Text>
      )}
    </>
  );
}

function NumberMenu({ accountId, number }: { accountId: number; number: PhoneNumber }) {
  const update = useUpdateNumber(accountId);
  const remove = useRemoveNumber(accountId);
  const [isAsking, setIsAsking] = useState(false);
  const verb = number.is_managed ? "Release" : "Remove";
  const show = (isShown: boolean) =>
    update.mutate(
      { id: number.id, body: { is_default_caller_id: isShown } },
      { onSuccess: () => notifySuccess("Saved."), onError: notifyError },
    );
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Button size="compact-sm" variant="subtle" color="gray" aria-label={`More actions for ${number.address}`}>
            <Ellipsis size={16} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => show(!number.is_default_caller_id)}>
            {number.is_default_caller_id ? "Remove as default caller ID" : "Set as default caller ID"}
          </Menu.Item>
          <Menu.Item color="var(--bad)" onClick={() => setIsAsking(true)}>
            {verb}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm
        title={`${verb} ${number.address}?`}
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onConfirm={() => remove.mutate(number, { onSuccess: () => setIsAsking(false) })}
        confirm={verb}
        isBusy={remove.isPending}
        error={remove.error}
      >
        {number.is_managed
          ? "The number returns to the carrier and can be assigned to someone else."
          : "You keep the number at the carrier. Calls to it will no longer be answered here."}
      </Confirm>
    </>
  );
}
