/** The organization's own limit of a day's spend. */

import { Button, Group, NumberInput } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { Fact } from "../../../components/layout/fact";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import type { Schema } from "../../../lib/api/types";
import { formatMoney } from "../../../lib/format/format";
import { usePermissions } from "../../../lib/organization/organization-context";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useForm } from "../../../lib/ui/use-form";
import classes from "../settings.module.css";
import { useSaveSpendLimit, useSpendLimit } from "./api";

export function SpendLimitPanel() {
  const limit = useSpendLimit();
  const permissions = usePermissions();
  return (
    <Panel title="Daily spend">
      <Loaded query={limit} what="The spend limit" height={96}>
        {(data) => (
          <>
            <Group p="lg" gap={40}>
              <Fact name="Spent today (UTC)" value={formatMoney(data.spent_today_cents)} />
              <Fact name="Limit" value={data.limit_cents === null ? "None" : formatMoney(data.limit_cents)} />
            </Group>
            {permissions.admin && <LimitForm limit={data} />}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function LimitForm({ limit }: { limit: Schema<"SpendLimit"> }) {
  const save = useSaveSpendLimit();
  const own = limit.own_limit_cents;
  const form = useForm<{ dollars: number | "" }>({ dollars: own === null ? "" : own / 100 }, save.error, {
    places: { dollars: "own_limit_cents" },
    labels: { own_limit_cents: "Your limit" },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const { dollars } = form.values;
    save.mutate(dollars === "" ? null : Math.round(dollars * 100), {
      onSuccess: () => notifySuccess("Spend limit saved."),
    });
  };
  return (
    <form onSubmit={submit} className={classes.form} noValidate>
      <NumberInput
        label="Your limit"
        description="When a day's cost reaches this amount, calls end and new ones are rejected. Leave it empty to use the operator's limit; yours can only be lower."
        prefix="$"
        decimalScale={2}
        clampBehavior="none"
        min={0.01}
        {...form.field("dollars")}
      />
      <FormProblem words={form.problem} />
      <div>
        <Button type="submit" loading={save.isPending}>
          Save limit
        </Button>
      </div>
    </form>
  );
}
