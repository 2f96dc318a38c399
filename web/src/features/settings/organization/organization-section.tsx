/** The organization's name, clocks and limits. */

import { Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { Fact } from "../../../components/layout/fact";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { usePermissions, useOrganizationContext } from "../../../lib/organization/organization-context";
import { zoneChoices } from "../../../lib/format/time-zones";
import { useForm } from "../../../lib/ui/use-form";
import { notifySuccess } from "../../../lib/ui/notifications";
import type { Schema } from "../../../lib/api/types";
import { DeleteOrganization } from "./delete-organization";
import { useRename, useSavePreferences } from "./api";
import { IdentityProviderPanel } from "./identity-provider-panel";
import { RedactionPanel } from "./redaction-panel";
import { RetentionPanel } from "./retention-panel";
import { SecondFactorDemand } from "./second-factor-demand";
import { SupportAccess } from "./support-access";
import { SpendLimitPanel } from "./spend-limit-panel";
import classes from "../settings.module.css";

export default function OrganizationSection() {
  const where = useOrganizationContext();
  const permissions = usePermissions();
  return (
    <Loaded query={where} what="The organization">
      {(data) => (
        <Stack gap="lg">
          <Name organization={data.organization} />
          <Preferences preferences={data.preferences} />
          {permissions.admin && <SecondFactorDemand />}
          {permissions.admin && <IdentityProviderPanel />}
          {permissions.admin && <SupportAccess />}
          <Panel title="Limits">
            <Group p="lg" gap={40}>
              <Fact name="Concurrent calls" value={data.limits.concurrent_calls} />
              <Fact
                name="Set for"
                value={data.limits.source === "organization" ? "This organization" : "The whole installation"}
              />
            </Group>
          </Panel>
          <SpendLimitPanel />
          <RedactionPanel />
          <RetentionPanel />
          {permissions.own && <DeleteOrganization />}
        </Stack>
      )}
    </Loaded>
  );
}

function Name({ organization }: { organization: Schema<"OrganizationResponse"> }) {
  const permissions = usePermissions();
  const rename = useRename();
  const form = useForm({ name: organization.name }, rename.error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    rename.mutate(form.values.name, { onSuccess: () => notifySuccess("Name saved.") });
  };
  return (
    <Panel title="Organization">
      <form onSubmit={submit} className={classes.form} noValidate>
        <TextInput label="Name" readOnly={!permissions.admin} {...form.text("name")} />
        <FormProblem words={form.problem} />
        {permissions.admin && (
          <div>
            <Button type="submit" loading={rename.isPending} disabled={form.values.name === organization.name}>
              Save
            </Button>
          </div>
        )}
      </form>
    </Panel>
  );
}

const ZONES = zoneChoices();

function Preferences({ preferences }: { preferences: Schema<"PreferencesResponse"> }) {
  const permissions = usePermissions();
  const save = useSavePreferences();
  const form = useForm(
    { timezone: preferences.timezone, test_phone_number: preferences.test_phone_number ?? "" },
    save.error,
    { labels: { timezone: "Time zone" } },
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const { timezone, test_phone_number } = form.values;
    save.mutate(
      { timezone, test_phone_number: test_phone_number === "" ? null : test_phone_number },
      { onSuccess: () => notifySuccess("Preferences saved.") },
    );
  };
  return (
    <Panel title="Preferences">
      <form onSubmit={submit} className={classes.form} noValidate>
        <Select
          label="Time zone"
          description="Decides when a day begins in usage reports"
          searchable
          allowDeselect={false}
          data={ZONES}
          disabled={!permissions.write}
          {...form.field("timezone")}
        />
        <TextInput
          label="Test phone number"
          description="The number that test calls dial, with the country code"
          placeholder="+12015550101"
          readOnly={!permissions.write}
          {...form.text("test_phone_number")}
        />
        <FormProblem words={form.problem} />
        {permissions.write ? (
          <div>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </div>
        ) : (
          <Text fz="sm" c="dimmed">
            You have read-only access.
          </Text>
        )}
      </form>
    </Panel>
  );
}
