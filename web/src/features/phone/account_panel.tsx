/** One account: whether calls can go out by it, its numbers, and who answers each. */

import { Alert, Badge, Button, Group, Menu, Select, Switch, Table, Text, TextInput } from "@mantine/core";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { DataTable } from "../../components/data_table";
import { Confirm, FormDialog } from "../../components/dialog";
import { Empty, Loaded } from "../../components/page";
import { Panel } from "../../components/panel";
import { useMay } from "../../lib/account";
import { words } from "../../lib/format";
import { useForm } from "../../lib/form";
import { useAgentChoices } from "../../lib/names";
import { done, failed } from "../../lib/notice";
import { type Account, type Carrier, type PhoneNumber, useAddNumber, useCheck, useDeleteAccount, useMakeDefault, useNumbers, useRemoveNumber, useUpdateNumber } from "./api";

const COLUMNS = [{ title: "Number" }, { title: "Answered by", width: 260 }, { title: "In use", width: 90 }, { title: "Actions", isQuiet: true }];

export function AccountPanel({ account, carrier, onEdit }: { account: Account; carrier: Carrier | undefined; onEdit: () => void }) {
  const numbers = useNumbers(account.id);
  const [isAdding, setIsAdding] = useState(false);
  return (
    <Panel
      title={account.name}
      right={
        <Group gap="sm">
          <Badge color="gray">{carrier?.display_name ?? words(account.provider)}</Badge>
          {account.is_default_outbound && <Badge>Default for calls</Badge>}
          {account.inactive && <Badge color="red">Switched off</Badge>}
          <AccountMenu account={account} onEdit={onEdit} onAdd={() => setIsAdding(true)} />
        </Group>
      }
    >
      {(account.inactive_reason ?? account.outbound_blocked_reason) && (
        <Alert color="yellow" variant="light" radius={0}>
          {account.inactive_reason ?? account.outbound_blocked_reason}
        </Alert>
      )}
      <Loaded query={numbers} what="The numbers" height={90}>
        {(data) =>
          data.phone_numbers.length === 0 ? (
            <Empty isInside title="No numbers">
              Add the numbers that this account has, and choose who answers them.
            </Empty>
          ) : (
            <DataTable label={`Numbers of ${account.name}`} columns={COLUMNS}>
              {data.phone_numbers.map((one) => (
                <NumberRow key={one.id} accountId={account.id} number={one} />
              ))}
            </DataTable>
          )
        }
      </Loaded>
      {isAdding && <AddNumber accountId={account.id} onClose={() => setIsAdding(false)} />}
    </Panel>
  );
}

function AccountMenu({ account, onEdit, onAdd }: { account: Account; onEdit: () => void; onAdd: () => void }) {
  const may = useMay();
  const check = useCheck();
  const makeDefault = useMakeDefault();
  const remove = useDeleteAccount();
  const [isAsking, setIsAsking] = useState(false);
  if (!may.admin) return null;
  return (
    <>
      <Button size="xs" variant="default" loading={check.isPending} onClick={() => check.mutate(account, { onSuccess: () => done("The carrier takes these credentials."), onError: failed })}>
        Check now
      </Button>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Button size="compact-sm" variant="subtle" color="gray" aria-label={`More about ${account.name}`}>
            <Ellipsis size={16} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onAdd}>Add a number</Menu.Item>
          {!account.is_managed && <Menu.Item onClick={onEdit}>Edit</Menu.Item>}
          {!account.is_default_outbound && <Menu.Item onClick={() => makeDefault.mutate(account.id, { onError: failed })}>Make it the default for calls</Menu.Item>}
          {!account.is_managed && (
            <Menu.Item color="red" onClick={() => setIsAsking(true)}>
              Delete
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <Confirm title={`Delete “${account.name}”?`} isOpen={isAsking} onClose={() => setIsAsking(false)} onConfirm={() => remove.mutate(account.id)} confirm="Delete" isBusy={remove.isPending} error={remove.error}>
        Its numbers go with it, and nobody answers them any more.
      </Confirm>
    </>
  );
}

function NumberRow({ accountId, number }: { accountId: number; number: PhoneNumber }) {
  const may = useMay();
  const agents = useAgentChoices();
  const update = useUpdateNumber(accountId);
  const remove = useRemoveNumber(accountId);
  const [isAsking, setIsAsking] = useState(false);
  const answer = (id: string | null) =>
    update.mutate(
      { id: number.id, body: id === null ? { clear_inbound_workflow: true } : { inbound_workflow_id: Number(id) } },
      {
        onSuccess: ({ provider_sync: sync }) => (sync && !sync.ok ? failed(new Error(sync.message)) : done("Saved.")),
        onError: failed,
      },
    );
  return (
    <Table.Tr>
      <Table.Td>
        <Text span fz="sm" fw={600}>
          {number.address}
        </Text>{" "}
        {number.label && (
          <Text span fz="sm" c="dimmed">
            {number.label}
          </Text>
        )}
        {number.is_default_caller_id && <Badge ml={6}>Shown to callees</Badge>}
        {number.is_managed && (
          <Badge ml={6} color="gray">
            Platform
          </Badge>
        )}
      </Table.Td>
      <Table.Td>
        <Select
          size="xs"
          aria-label={`Who answers ${number.address}`}
          placeholder="Nobody"
          clearable
          searchable
          disabled={!may.admin}
          data={agents}
          value={number.inbound_workflow_id === null ? null : String(number.inbound_workflow_id)}
          onChange={answer}
        />
      </Table.Td>
      <Table.Td>
        <Switch
          aria-label={`${number.address} is in use`}
          checked={number.is_active}
          disabled={!may.admin}
          onChange={(event) => update.mutate({ id: number.id, body: { is_active: event.currentTarget.checked } }, { onError: failed })}
        />
      </Table.Td>
      <Table.Td ta="right">
        {may.admin && (
          <Button size="compact-sm" variant="subtle" color="red" onClick={() => setIsAsking(true)} aria-label={`${number.is_managed ? "Release" : "Remove"} ${number.address}`}>
            {number.is_managed ? "Release" : "Remove"}
          </Button>
        )}
        <Confirm
          title={`${number.is_managed ? "Release" : "Remove"} ${number.address}?`}
          isOpen={isAsking}
          onClose={() => setIsAsking(false)}
          onConfirm={() => remove.mutate(number)}
          confirm={number.is_managed ? "Release" : "Remove"}
          isBusy={remove.isPending}
          error={remove.error}
        >
          {number.is_managed ? "It goes back to the carrier, and somebody else may get it." : "It stays yours at the carrier; here nobody answers it any more."}
        </Confirm>
      </Table.Td>
    </Table.Tr>
  );
}

function AddNumber({ accountId, onClose }: { accountId: number; onClose: () => void }) {
  const add = useAddNumber(accountId);
  const agents = useAgentChoices();
  const form = useForm<{ address: string; label: string; inbound_workflow_id: string | null }>({ address: "", label: "", inbound_workflow_id: null }, add.error);
  const { address, label, inbound_workflow_id: agent } = form.values;
  const submit = () => add.mutate({ address, label: label === "" ? null : label, inbound_workflow_id: agent === null ? null : Number(agent) }, { onSuccess: onClose });
  return (
    <FormDialog title="Add a number" isOpen onClose={onClose} onSubmit={submit} submit="Add" isBusy={add.isPending} problem={form.problem}>
      <TextInput label="Number" placeholder="+12015550123" required data-autofocus {...form.text("address")} />
      <TextInput label="Label" {...form.text("label")} />
      <Select label="Answered by" placeholder="Nobody" clearable data={agents} {...form.field("inbound_workflow_id")} />
    </FormDialog>
  );
}
