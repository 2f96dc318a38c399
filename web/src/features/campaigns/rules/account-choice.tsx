/** By which carrier account, and so from which number, a campaign calls. */

import { Alert, Anchor, Group, Select, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import {
  blockedBecause,
  type CarrierAccount,
  placingAccount,
  useCallerNumbers,
  useCarrierAccounts,
} from "../../../lib/organization/carrier-accounts";
import { providerName } from "../../../lib/runs/model-names";
import { Fact } from "../../../components/layout/fact";
import { calledFrom } from "./rule-descriptions";

/** What stands for the account that is the default when a call is placed. */
const DEFAULT = "default";

interface AccountChoiceProps {
  /** Null: the organization's default. */
  value: number | null;
  onChange: (id: number | null) => void;
  error: string | undefined;
}

/** Where there is only one way to call, there is nothing to choose. */
export function useHasChoice(value: number | null): boolean {
  const accounts = useCarrierAccounts().data?.configurations ?? [];
  return accounts.length > 1 || value !== null || accounts.some((account) => !account.is_default_outbound);
}

export function AccountChoice({ value, onChange, error }: AccountChoiceProps) {
  const accounts = useCarrierAccounts().data?.configurations ?? [];
  const placing = placingAccount(accounts, value);
  return (
    <div>
      <Group align="flex-end" gap="lg">
        <Select
          label="Place calls through"
          allowDeselect={false}
          data={choices(accounts, value)}
          value={value === null ? DEFAULT : String(value)}
          onChange={(chosen) => onChange(chosen === null || chosen === DEFAULT ? null : Number(chosen))}
          error={error}
          w={340}
          maw="100%"
        />
        <Text fz="sm" c="dimmed" pb={8}>
          <CallerNumbers account={placing} />
        </Text>
      </Group>
      <Blocked account={placing} />
    </div>
  );
}

function choices(accounts: readonly CarrierAccount[], value: number | null): { value: string; label: string }[] {
  const usual = placingAccount(accounts, null);
  const gone = value !== null && !accounts.some((account) => account.id === value);
  return [
    { value: DEFAULT, label: usual === undefined ? providerName("sandbox") : `Default account (${usual.name})` },
    ...accounts.map((account) => ({
      value: String(account.id),
      label: `${account.name} · ${providerName(account.provider)}`,
    })),
    ...(gone ? [{ value: String(value), label: "Removed account" }] : []),
  ];
}

/** The numbers that the called people see. */
export function CallerNumbers({ account }: { account: CarrierAccount | undefined }) {
  const numbers = useCallerNumbers(account?.id);
  if (account === undefined) return "Simulated phones. No real calls are placed.";
  return numbers.data === undefined ? "" : calledFrom(numbers.data, account.provider);
}

function Blocked({ account }: { account: CarrierAccount | undefined }) {
  const because = account === undefined ? null : blockedBecause(account);
  if (because === null) return null;
  return (
    <Text fz="sm" c="red" mt={6} role="status">
      {because}
    </Text>
  );
}

/** Which account a campaign uses, and what the called people see. */
export function AccountFact({ id }: { id: number | null }) {
  const accounts = useCarrierAccounts().data?.configurations;
  if (accounts === undefined) return null;
  const account = placingAccount(accounts, id);
  const name = account?.name ?? (id === null ? providerName("sandbox") : "Removed account");
  return (
    <Fact
      name="Place calls through"
      value={
        <>
          <span>{id === null && account !== undefined ? `${name} (default)` : name}</span>
          <Text fz="xs" c="dimmed">
            {(account !== undefined || id === null) && <CallerNumbers account={account} />}
          </Text>
        </>
      }
    />
  );
}

/** A campaign that would not, or does not, call because its account cannot. */
export function AccountAlert({ id }: { id: number | null }) {
  const accounts = useCarrierAccounts().data?.configurations;
  if (accounts === undefined) return null;
  const account = placingAccount(accounts, id);
  const because =
    account === undefined
      ? id === null
        ? null
        : "It was removed. Choose another one in “Edit rules”."
      : blockedBecause(account);
  if (because === null) return null;
  return (
    <Alert
      color="yellow"
      variant="light"
      title={account === undefined ? "Carrier account removed" : `${account.name} cannot place calls`}
    >
      {because}{" "}
      <Anchor fz="sm" renderRoot={(props) => <Link to="/phone" {...props} />}>
        Carrier accounts
      </Anchor>
    </Alert>
  );
}
