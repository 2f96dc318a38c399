/** The carrier account that organizations buy numbers with, and their sub-accounts of it. */

import { Badge, Stack, Switch, Table, Text } from "@mantine/core";
import { Empty, Loaded } from "../../components/layout/page";
import { Panel } from "../../components/layout/panel";
import { DataTable, ShowMore } from "../../components/tables/data-table";
import type { Schema } from "../../lib/api/types";
import { formatCount, formatDateTime, humanize } from "../../lib/format/format";
import { notifyError, notifySuccess } from "../../lib/ui/notifications";
import { useManagedCarrier, useSubAccounts, useUpdateManagedCarrier } from "./api";

type SubAccount = Schema<"CarrierSubAccountItem">;

const COLORS: Record<SubAccount["state"], string> = {
  creating: "yellow",
  active: "brand",
  closing: "yellow",
  closed: "gray",
};

const COLUMNS = [
  { title: "Organization" },
  { title: "Account at the carrier" },
  { title: "State" },
  { title: "Numbers", isRight: true },
  { title: "Created" },
];

export function CarrierTab() {
  const carrier = useManagedCarrier();
  return (
    <Stack gap="md">
      <Panel title="Carrier account">
        <Loaded query={carrier} what="The carrier account">
          {(data) => <Account carrier={data} />}
        </Loaded>
      </Panel>
      <SubAccounts />
    </Stack>
  );
}

function Account({ carrier }: { carrier: Schema<"ManagedCarrierResponse"> }) {
  const update = useUpdateManagedCarrier();
  const account = carrier.account_reference === null ? "" : ` with the account ${carrier.account_reference}`;
  const turn = (isOn: boolean) =>
    update.mutate(
      { uses_sub_accounts: isOn },
      {
        onSuccess: () => notifySuccess(isOn ? "Organizations now buy in sub-accounts." : "Sub-accounts turned off."),
        onError: notifyError,
      },
    );
  return (
    <Stack gap="sm" p="md">
      <Text fz="sm">
        {carrier.provider === "sandbox"
          ? "Organizations get simulated numbers. Set OFFHOOK_PLATFORM_CARRIER to sell real ones."
          : `Organizations buy numbers from ${humanize(carrier.provider)}${account}.`}
      </Text>
      <Switch
        label="One sub-account for each organization"
        description={
          carrier.has_sub_accounts
            ? "Applies to numbers bought from now on. Existing numbers stay in their account."
            : "Not available for this carrier. Twilio, Plivo, Telnyx, and Vonage have sub-accounts."
        }
        checked={carrier.uses_sub_accounts}
        disabled={update.isPending || (!carrier.has_sub_accounts && !carrier.uses_sub_accounts)}
        onChange={(event) => turn(event.currentTarget.checked)}
      />
    </Stack>
  );
}

function SubAccounts() {
  const subAccounts = useSubAccounts();
  return (
    <Panel title="Sub-accounts">
      <Loaded query={subAccounts} what="The sub-accounts">
        {(data) =>
          data.length === 0 ? (
            <Empty isInside title="No sub-accounts yet">
              When sub-accounts are on, an organization gets one with the first number that it buys.
            </Empty>
          ) : (
            <>
              <DataTable label="Sub-accounts" columns={COLUMNS} minWidth={760}>
                {data.map((one) => (
                  <SubAccountRow key={one.id} subAccount={one} />
                ))}
              </DataTable>
              <ShowMore list={subAccounts} what="sub-accounts" />
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

function SubAccountRow({ subAccount }: { subAccount: SubAccount }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Text span fz="sm" fw={600}>
          {subAccount.organization_name}
        </Text>{" "}
        <Text span fz="xs" c="dimmed">
          {subAccount.organization_id}
        </Text>
      </Table.Td>
      <Table.Td>
        <Text fz="sm">{subAccount.account_reference ?? "–"}</Text>
        <Text fz="xs" c="dimmed">
          {subAccount.name}
        </Text>
      </Table.Td>
      <Table.Td style={{ whiteSpace: "normal" }}>
        <Badge color={COLORS[subAccount.state]}>{humanize(subAccount.state)}</Badge>{" "}
        <Text span fz="xs" c="dimmed">
          {subAccount.error}
        </Text>
      </Table.Td>
      <Table.Td ta="right">{formatCount(subAccount.number_count)}</Table.Td>
      <Table.Td c="dimmed">{formatDateTime(subAccount.created_at)}</Table.Td>
    </Table.Tr>
  );
}
