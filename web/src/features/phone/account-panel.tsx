/** One account: whether calls can go out by it, its numbers, and who answers each. */

import { Alert, Badge, Button, Group, Menu } from "@mantine/core";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { DataTable } from "../../components/tables/data-table";
import { Confirm } from "../../components/forms/dialog";
import { Empty, Loaded } from "../../components/layout/page";
import { Panel } from "../../components/layout/panel";
import { usePermissions } from "../../lib/organization/organization-context";
import { blockedBecause } from "../../lib/organization/carrier-accounts";
import { formatTimeAgo, humanize } from "../../lib/format/format";
import { notifySuccess, notifyError } from "../../lib/ui/notifications";
import { AddNumber } from "./add-number";
import { type Account, type Carrier, useCheck, useDeleteAccount, useMakeDefault, useNumbers } from "./api";
import { NumberRow } from "./number-row";

const COLUMNS = [
  { title: "Number" },
  { title: "Answered by", width: 310 },
  { title: "Active", width: 90 },
  { title: "Actions", isQuiet: true },
];

interface AccountPanelProps {
  account: Account;
  carrier: Carrier | undefined;
  onEdit: () => void;
  onBuy: () => void;
}

export function AccountPanel({ account, carrier, onEdit, onBuy }: AccountPanelProps) {
  const permissions = usePermissions();
  const numbers = useNumbers(account.id);
  const [isAdding, setIsAdding] = useState(false);
  const hasNumbers = (numbers.data?.phone_numbers.length ?? 0) > 0;
  return (
    <Panel
      title={account.name}
      right={
        <Group gap="sm">
          <Badge color="gray">{carrier?.display_name ?? humanize(account.provider)}</Badge>
          {account.is_default_outbound && <Badge>Default for outbound calls</Badge>}
          {account.inactive && <Badge color="red">Disabled</Badge>}
          {permissions.admin && (
            <>
              {!account.is_managed && hasNumbers && (
                <Button size="xs" variant="default" onClick={() => setIsAdding(true)}>
                  Add a number
                </Button>
              )}
              <AccountMenu account={account} hasCredentials={carrier?.fields.length !== 0} onEdit={onEdit} />
            </>
          )}
        </Group>
      }
    >
      <Blocked account={account} />
      <Loaded query={numbers} what="The numbers" height={90}>
        {(data) =>
          data.phone_numbers.length === 0 ? (
            <Empty
              isInside
              title="No numbers yet"
              action={permissions.admin && <First account={account} onAdd={() => setIsAdding(true)} onBuy={onBuy} />}
            >
              {account.is_managed
                ? "Buy and release platform numbers here."
                : "Add the numbers of this account and choose the agents that answer them."}
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

function Blocked({ account }: { account: Account }) {
  const because = blockedBecause(account);
  if (!account.inactive && because === null) return null;
  return (
    <Alert color={account.inactive ? "red" : "yellow"} variant="light" radius={0}>
      {account.inactive
        ? `Disabled ${formatTimeAgo(account.inactive_since ?? account.updated_at)}: ${account.inactive_reason ?? "no reason given"}`
        : because}
    </Alert>
  );
}

function First({ account, onAdd, onBuy }: { account: Account; onAdd: () => void; onBuy: () => void }) {
  return (
    <Button size="sm" variant="default" onClick={account.is_managed ? onBuy : onAdd}>
      {account.is_managed ? "Get a number" : "Add a number"}
    </Button>
  );
}

interface AccountMenuProps {
  account: Account;
  /** The simulated carrier has none that could be checked. */
  hasCredentials: boolean;
  onEdit: () => void;
}

function AccountMenu({ account, hasCredentials, onEdit }: AccountMenuProps) {
  const check = useCheck();
  const makeDefault = useMakeDefault();
  const remove = useDeleteAccount();
  const [isAsking, setIsAsking] = useState(false);
  const ask = () =>
    check.mutate(account, {
      onSuccess: () =>
        notifySuccess(account.inactive ? `“${account.name}” reactivated.` : "The carrier accepted these credentials."),
      onError: notifyError,
    });
  return (
    <>
      {!account.is_managed && (hasCredentials || account.inactive) && (
        <Button
          size="xs"
          variant="default"
          loading={check.isPending}
          onClick={ask}
          aria-label={`${account.inactive ? "Reactivate" : "Check credentials"}: ${account.name}`}
        >
          {account.inactive ? "Reactivate" : "Check credentials"}
        </Button>
      )}
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Button size="compact-sm" variant="subtle" color="gray" aria-label={`More actions for ${account.name}`}>
            <Ellipsis size={16} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {!account.is_managed && <Menu.Item onClick={onEdit}>Edit</Menu.Item>}
          {!account.is_default_outbound && (
            <Menu.Item onClick={() => makeDefault.mutate(account.id, { onError: notifyError })}>
              Set as default for outbound calls
            </Menu.Item>
          )}
          {!account.is_managed && (
            <Menu.Item color="var(--bad)" onClick={() => setIsAsking(true)}>
              Delete
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <Confirm
        title={`Delete “${account.name}”?`}
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onConfirm={() => remove.mutate(account.id)}
        confirm="Delete"
        isBusy={remove.isPending}
        error={remove.error}
      >
        This also removes its numbers. Calls to them will no longer be answered.
      </Confirm>
    </>
  );
}
