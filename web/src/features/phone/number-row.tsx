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
            ? notifyError(new Error(`It is saved, but the calls do not come here yet: ${sync.message}`))
            : notifySuccess(name ? `${name} answers ${number.address}.` : `Nobody answers ${number.address}.`),
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
            aria-label={`Who answers ${number.address}`}
            placeholder="Nobody"
            clearable
            searchable
            disabled={update.isPending}
            data={agents}
            value={number.inbound_workflow_id === null ? null : String(number.inbound_workflow_id)}
            onChange={answer}
          />
        ) : (
          (number.inbound_workflow_name ?? "Nobody")
        )}
      </Table.Td>
      <Table.Td>
        <Switch
          aria-label={`${number.address} is in use`}
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
        {number.is_primary && <Badge>Main line</Badge>}
        {number.is_default_caller_id && <Badge>Calls come from it</Badge>}
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
          <Button size="compact-sm" variant="subtle" color="gray" aria-label={`More about ${number.address}`}>
            <Ellipsis size={16} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => show(!number.is_default_caller_id)}>
            {number.is_default_caller_id ? "Call from any number" : "Call from this number"}
          </Menu.Item>
          <Menu.Item color="red" onClick={() => setIsAsking(true)}>
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
          ? "It goes back to the carrier, and somebody else may get it."
          : "It stays yours at the carrier; here nobody answers it any more."}
      </Confirm>
    </>
  );
}
