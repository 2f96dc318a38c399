/** Where the organization's calls may go, how often one caller may call, and who may not call at all. */

import { Button, Checkbox, MultiSelect, NumberInput, Stack } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import type { Schema } from "../../../lib/api/types";
import { countryChoices } from "../../../lib/format/countries";
import { usePermissions } from "../../../lib/organization/organization-context";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useForm } from "../../../lib/ui/use-form";
import classes from "../settings.module.css";
import { type CallPolicy, useCallPolicy, useSaveCallPolicy } from "./api";
import { BlockedCallers } from "./blocked-callers";

const COUNTRIES = countryChoices();

export default function CallPolicySection() {
  const policy = useCallPolicy();
  return (
    <Stack gap="lg">
      <Loaded query={policy} what="The call policy">
        {(data) => <PolicyForm policy={data} />}
      </Loaded>
      <BlockedCallers />
    </Stack>
  );
}

interface PolicyValues {
  countries: string[];
  allows_premium: boolean;
  allows_satellite: boolean;
  allows_high_risk: boolean;
  max_cents_per_minute: number | "";
  max_live_calls_per_caller: number | "";
  max_hourly_calls_per_caller: number | "";
}

const numberOrNull = (value: number | "") => (value === "" ? null : value);

function toPolicy(values: PolicyValues): Schema<"CallPolicyUpdate"> {
  return {
    ...values,
    countries: values.countries.length === 0 ? null : values.countries,
    max_cents_per_minute: numberOrNull(values.max_cents_per_minute),
    max_live_calls_per_caller: numberOrNull(values.max_live_calls_per_caller),
    max_hourly_calls_per_caller: numberOrNull(values.max_hourly_calls_per_caller),
  };
}

function PolicyForm({ policy }: { policy: CallPolicy }) {
  const { admin } = usePermissions();
  const save = useSaveCallPolicy();
  const form = useForm<PolicyValues>(
    {
      countries: policy.countries ?? [],
      allows_premium: policy.allows_premium,
      allows_satellite: policy.allows_satellite,
      allows_high_risk: policy.allows_high_risk,
      max_cents_per_minute: policy.max_cents_per_minute === null ? "" : Number(policy.max_cents_per_minute),
      max_live_calls_per_caller: policy.max_live_calls_per_caller ?? "",
      max_hourly_calls_per_caller: policy.max_hourly_calls_per_caller ?? "",
    },
    save.error,
    { labels: { countries: "Countries" } },
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save.mutate(toPolicy(form.values), { onSuccess: () => notifySuccess("Call policy saved.") });
  };
  return (
    <Panel title="Allowed destinations">
      <form onSubmit={submit} className={classes.form} noValidate>
        <MultiSelect
          label="Countries"
          searchable
          clearable={admin}
          placeholder={form.values.countries.length === 0 ? "All countries" : ""}
          data={COUNTRIES}
          readOnly={!admin}
          {...form.field("countries")}
        />
        <Checkbox label="Allow premium numbers" disabled={!admin} {...form.check("allows_premium")} />
        <Checkbox label="Allow satellite numbers" disabled={!admin} {...form.check("allows_satellite")} />
        <Checkbox label="Allow ranges often used for fraud" disabled={!admin} {...form.check("allows_high_risk")} />
        <NumberInput
          label="Maximum price per minute"
          description="In cents. Applies to destinations with a known price."
          clampBehavior="none"
          min={0.01}
          decimalScale={4}
          readOnly={!admin}
          {...form.field("max_cents_per_minute")}
        />
        <NumberInput
          label="Concurrent calls per caller"
          clampBehavior="none"
          min={1}
          allowDecimal={false}
          readOnly={!admin}
          {...form.field("max_live_calls_per_caller")}
        />
        <NumberInput
          label="Calls per caller per hour"
          clampBehavior="none"
          min={1}
          allowDecimal={false}
          readOnly={!admin}
          {...form.field("max_hourly_calls_per_caller")}
        />
        <FormProblem words={form.problem} />
        {admin && (
          <div>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </div>
        )}
      </form>
    </Panel>
  );
}
