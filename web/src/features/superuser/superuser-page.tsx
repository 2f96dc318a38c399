/** All organizations, their agents, runs and campaigns; and acting as one of their people. */

import { Button, NumberInput, Select, Table, Tabs, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { DataTable, ShowMore } from "../../components/tables/data-table";
import { FormDialog } from "../../components/forms/dialog";
import { Empty, Loaded, Page } from "../../components/layout/page";
import { Panel } from "../../components/layout/panel";
import { useAccount } from "../../lib/organization/organization-context";
import { formatCount, formatDateTime, formatMoney } from "../../lib/format/format";
import { useForm } from "../../lib/ui/use-form";
import { notifySuccess } from "../../lib/ui/notifications";
import type { Schema } from "../../lib/api/types";
import { useAddCredit, useImpersonate, useOrganizations } from "./api";
import { CarrierTab } from "./carrier-tab";
import { NodesTab } from "./nodes-tab";
import { SignupsTab } from "./signups-tab";
import { CampaignsTab, RunsTab, WorkflowsTab } from "./tabs";

export function SuperuserPage() {
  const account = useAccount();
  if (account.data === undefined) return null;
  return account.data.is_superuser ? <Everything /> : <NotForYou />;
}

function NotForYou() {
  return (
    <Page title="Superuser">
      <Empty title="Superusers only">
        Only superusers can see all organizations. To grant access, run: offhook superuser grant EMAIL
      </Empty>
    </Page>
  );
}

function Everything() {
  const organizations = useOrganizations();
  const [chosen, setChosen] = useState<string | null>(null);
  const [isActing, setIsActing] = useState(false);
  const organizationId = chosen === null ? null : Number(chosen);
  const choice = (
    <Select
      aria-label="Organization"
      placeholder="All organizations"
      clearable
      searchable
      w={240}
      data={(organizations.data ?? []).map((one) => ({ value: String(one.id), label: one.name }))}
      value={chosen}
      onChange={setChosen}
    />
  );
  return (
    <Page
      title="Superuser"
      about="Every organization on this installation."
      actions={
        <>
          {choice}
          <Button variant="default" onClick={() => setIsActing(true)}>
            Impersonate a user
          </Button>
        </>
      }
    >
      <Tabs defaultValue="organizations" keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab px="sm" value="organizations">
            Organizations
          </Tabs.Tab>
          <Tabs.Tab px="sm" value="agents">
            Agents
          </Tabs.Tab>
          <Tabs.Tab px="sm" value="runs">
            Runs
          </Tabs.Tab>
          <Tabs.Tab px="sm" value="campaigns">
            Campaigns
          </Tabs.Tab>
          <Tabs.Tab px="sm" value="signups">
            Requests
          </Tabs.Tab>
          <Tabs.Tab px="sm" value="carrier">
            Carrier
          </Tabs.Tab>
          <Tabs.Tab px="sm" value="nodes">
            Processes
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="organizations">
          <Organizations only={organizationId} />
        </Tabs.Panel>
        <Tabs.Panel value="agents">
          <WorkflowsTab organizationId={organizationId} />
        </Tabs.Panel>
        <Tabs.Panel value="runs">
          <RunsTab key={chosen} organizationId={organizationId} />
        </Tabs.Panel>
        <Tabs.Panel value="campaigns">
          <CampaignsTab organizationId={organizationId} />
        </Tabs.Panel>
        <Tabs.Panel value="signups">
          <SignupsTab />
        </Tabs.Panel>
        <Tabs.Panel value="carrier">
          <CarrierTab />
        </Tabs.Panel>
        <Tabs.Panel value="nodes">
          <NodesTab />
        </Tabs.Panel>
      </Tabs>
      {isActing && <ActAs onClose={() => setIsActing(false)} />}
    </Page>
  );
}

const COLUMNS = [
  { title: "Organization" },
  { title: "Members", isRight: true },
  { title: "Agents", isRight: true },
  { title: "Runs", isRight: true },
  { title: "Balance", isRight: true },
  { title: "Created" },
  { title: "Actions", isQuiet: true },
];

function Organizations({ only }: { only: number | null }) {
  const organizations = useOrganizations();
  const [credited, setCredited] = useState<Schema<"SuperuserOrganizationItem"> | null>(null);
  return (
    <Panel title="Organizations">
      <Loaded query={organizations} what="The organizations">
        {(data) => (
          <>
            <DataTable label="Organizations" columns={COLUMNS} minWidth={760}>
              {data
                .filter((one) => only === null || one.id === only)
                .map((one) => (
                  <Table.Tr key={one.id}>
                    <Table.Td>
                      <Text span fz="sm" fw={600}>
                        {one.name}
                      </Text>{" "}
                      <Text span fz="xs" c="dimmed">
                        {one.id}
                      </Text>
                    </Table.Td>
                    <Table.Td ta="right">{formatCount(one.member_count)}</Table.Td>
                    <Table.Td ta="right">{formatCount(one.workflow_count)}</Table.Td>
                    <Table.Td ta="right">{formatCount(one.run_count)}</Table.Td>
                    <Table.Td ta="right">{formatMoney(one.balance_cents)}</Table.Td>
                    <Table.Td c="dimmed">{formatDateTime(one.created_at)}</Table.Td>
                    <Table.Td ta="right">
                      <Button
                        size="compact-sm"
                        variant="subtle"
                        onClick={() => setCredited(one)}
                        aria-label={`Add credit to ${one.name}`}
                      >
                        Add credit
                      </Button>
                    </Table.Td>
                  </Table.Tr>
                ))}
            </DataTable>
            <ShowMore list={organizations} what="organizations" />
          </>
        )}
      </Loaded>
      {credited && <AddCredit organization={credited} onClose={() => setCredited(null)} />}
    </Panel>
  );
}

export function AddCredit({
  organization,
  onClose,
}: {
  organization: Schema<"SuperuserOrganizationItem">;
  onClose: () => void;
}) {
  const add = useAddCredit(organization.id);
  const form = useForm<{ dollars: number | ""; note: string }>({ dollars: "", note: "" }, add.error, {
    places: { dollars: "cents" },
    labels: { cents: "Amount" },
  });
  const submit = () =>
    add.mutate(
      { cents: Math.round(Number(form.values.dollars) * 100), note: form.values.note === "" ? null : form.values.note },
      {
        onSuccess: () => {
          notifySuccess(`Credit added to ${organization.name}.`);
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={`Credit for ${organization.name}`}
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Add"
      isBusy={add.isPending}
      problem={form.problem}
    >
      <NumberInput
        label="Amount"
        description="A negative amount reduces the balance"
        prefix="$"
        decimalScale={2}
        data-autofocus
        {...form.field("dollars")}
      />
      <TextInput label="Note" {...form.text("note")} />
    </FormDialog>
  );
}

export function ActAs({ onClose }: { onClose: () => void }) {
  const act = useImpersonate();
  const form = useForm({ email: "" }, act.error, { labels: { email: "Email" } });
  return (
    <FormDialog
      title="Impersonate a user"
      isOpen
      onClose={onClose}
      onSubmit={() => act.mutate({ email: form.values.email })}
      submit="Impersonate"
      isBusy={act.isPending}
      problem={form.problem}
    >
      <TextInput label="Email" type="email" required data-autofocus {...form.text("email")} />
      <Text fz="sm" c="dimmed">
        For one hour you have exactly their permissions. Their organization&apos;s audit log records both of you.
      </Text>
    </FormDialog>
  );
}
