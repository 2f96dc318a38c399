/** What is redacted in the organization's calls. */

import { Button, Checkbox, Stack, Text, Textarea } from "@mantine/core";
import { type SubmitEvent, useState } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { problemsOf } from "../../../lib/api/errors";
import { fieldMessage } from "../../../lib/api/field-messages";
import type { Schema } from "../../../lib/api/types";
import { formatCount, pluralize } from "../../../lib/format/format";
import { usePermissions } from "../../../lib/organization/organization-context";
import { notifySuccess } from "../../../lib/ui/notifications";
import { type Form, useForm } from "../../../lib/ui/use-form";
import classes from "../settings.module.css";
import { useRedaction, useSaveRedaction } from "./api";

type Settings = Schema<"RedactionSettings">;
type Kind = Settings["kinds"][number];

interface RedactionValues {
  kinds: Kind[];
  names: string;
}

const MAX_NAMES = 1000;

const KINDS: Record<Kind, { label: string; description: string }> = {
  card: { label: "Card numbers", description: "Credit and debit cards, recognized by length and check digit." },
  cvv: { label: "Card security codes", description: "Three or four digits after a card number, or when asked for." },
  ssn: { label: "Social Security numbers", description: "US numbers in their usual groups, or when asked for." },
  iban: { label: "Bank accounts", description: "International account numbers (IBAN). Other account numbers stay." },
  email: { label: "Email addresses", description: "Written or spoken, such as “jane at example dot com”." },
  phone: { label: "Phone numbers", description: "US numbers, numbers with a country code, or when asked for." },
  birth_date: { label: "Dates of birth", description: "Dates when birth is mentioned or asked for. Other dates stay." },
  name: { label: "Names", description: "Names that callers give as their own, and names on the list." },
};

export function RedactionPanel() {
  const redaction = useRedaction();
  return (
    <Panel title="Redaction">
      <Loaded query={redaction} what="The redaction settings" height={320}>
        {(data) => <RedactionForm settings={data} />}
      </Loaded>
    </Panel>
  );
}

function RedactionForm({ settings }: { settings: Settings }) {
  const permissions = usePermissions();
  const save = useSaveRedaction();
  const form = useForm<RedactionValues>(toValues(settings), save.error);
  const [sent, setSent] = useState<string[]>([]);
  const hasNames = form.values.kinds.includes("name");
  const names = parseNames(form.values.names);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setSent(names);
    // What was typed before the names were turned off is not stored: the list stays as it is.
    save.mutate(
      { kinds: form.values.kinds, names: hasNames ? names : null },
      {
        onSuccess: (saved) => {
          form.reset(toValues(saved));
          notifySuccess("Redaction saved.");
        },
      },
    );
  };
  return (
    <form onSubmit={submit} className={classes.form} noValidate>
      <Text fz="sm" c="dimmed">
        {settings.kinds.length === 0 && "Nothing is redacted. "}
        In new calls, what you select is replaced with labels such as [card] in transcripts, events, variables, and
        webhooks. In the recording, the whole turn of the person who said it is silenced. Redaction works in English
        only. Earlier calls and text chats do not change.
      </Text>
      <Kinds form={form} isOff={!permissions.admin} />
      <NameList
        form={form}
        count={names.length}
        isOff={!hasNames}
        isReadOnly={!permissions.admin}
        error={wrongName(save.error, sent)}
      />
      <FormProblem words={form.problem} />
      {permissions.admin && (
        <div>
          <Button type="submit" loading={save.isPending} disabled={hasNames && names.length > MAX_NAMES}>
            Save redaction
          </Button>
        </div>
      )}
    </form>
  );
}

function Kinds({ form, isOff }: { form: Form<RedactionValues>; isOff: boolean }) {
  return (
    <Checkbox.Group label="What is redacted" {...form.field("kinds")}>
      <Stack gap={12} mt={8}>
        {Object.entries(KINDS).map(([kind, { label, description }]) => (
          <Checkbox key={kind} value={kind} label={label} description={description} disabled={isOff} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

interface NameListProps {
  form: Form<RedactionValues>;
  count: number;
  isOff: boolean;
  isReadOnly: boolean;
  error: string | undefined;
}

function NameList({ form, count, isOff, isReadOnly, error }: NameListProps) {
  const excess = count - MAX_NAMES;
  return (
    <Stack gap={4}>
      <Textarea
        label="List of names"
        description="One per line. Only the whole entry matches: “Anna Schmidt” does not match “Anna”. All members can see the list. It is kept even while names are not redacted."
        autosize
        minRows={3}
        maxRows={10}
        disabled={isOff}
        readOnly={isReadOnly}
        {...form.text("names")}
        error={!isOff && (excess > 0 ? `Remove ${pluralize(excess, "name")} to save the list.` : error)}
      />
      <Text fz="sm" c="dimmed">
        {formatCount(count)} of {formatCount(MAX_NAMES)} names
      </Text>
    </Stack>
  );
}

function toValues({ kinds, names }: Settings): RedactionValues {
  return { kinds, names: names.join("\n") };
}

function parseNames(text: string): string[] {
  return text
    .split("\n")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** Which of the names that were sent is wrong, and how. */
function wrongName(error: unknown, sent: readonly string[]): string | undefined {
  const problem = problemsOf(error).find(({ path }) => path.split(".")[0] === "names");
  if (problem === undefined) return undefined;
  const name = sent[Number(problem.path.split(".")[1])];
  return name === undefined
    ? fieldMessage("The list of names", problem)
    : `${name}: ${fieldMessage("The name", problem)}`;
}
