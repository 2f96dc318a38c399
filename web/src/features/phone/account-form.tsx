/** An account at a carrier: the fields that the carrier's metadata name, checked with the carrier when it is saved. */

import { Anchor, NumberInput, Select, SimpleGrid, Switch, Text, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "../../components/forms/dialog";
import { Password } from "../../components/forms/password";
import { ApiError, fieldErrors, formError } from "../../lib/api/errors";
import { notifySuccess } from "../../lib/ui/notifications";
import type { Schema } from "../../lib/api/types";
import { type Account, type Carrier, useAccount, useSaveAccount } from "./api";

type Values = Record<string, string | boolean | number>;

/** Of every carrier, beside the fields that its metadata name. */
const LIMITS = [
  { name: "max_concurrent_calls", label: "Concurrent calls", placeholder: "One per number" },
  { name: "calls_per_second", label: "Calls per second", placeholder: "Carrier default" },
];

interface AccountFormProps {
  account: Account | null;
  carriers: Carrier[];
  onClose: () => void;
}

export function AccountForm({ account, carriers, onClose }: AccountFormProps) {
  const stored = useAccount(account?.id ?? null);
  if (account !== null && stored.data === undefined) return null;
  return (
    <Form account={account} stored={(stored.data?.credentials ?? {}) as Values} carriers={carriers} onClose={onClose} />
  );
}

/** The list is alphabetical, and few people use its first carrier. */
const firstOffer = (carriers: Carrier[]) => carriers.find((one) => one.provider === "twilio") ?? carriers[0];

const isSecret = (field: Carrier["fields"][number]) => field.kind === "secret" || field.kind === "multiline_secret";

function Form({ account, stored, carriers, onClose }: AccountFormProps & { stored: Values }) {
  const save = useSaveAccount(account?.id ?? null);
  const [provider, setProvider] = useState(account?.provider ?? firstOffer(carriers)?.provider ?? "");
  const carrier = carriers.find((one) => one.provider === provider);
  const fields = carrier?.fields ?? [];
  const secrets = fields.filter(isSecret).map((field) => field.name);
  const [name, setName] = useState(account?.name ?? carrier?.display_name ?? "");
  // The server sends a mask for a secret: its field stays empty, and the stored one is kept until the user types another.
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(Object.entries(stored).filter(([field]) => !secrets.includes(field))),
  );
  const names = [...fields.map((field) => field.name), ...LIMITS.map((limit) => limit.name)];
  const places = ["name", ...names.map((field) => `config.${field}`), ...names];
  const labels = Object.fromEntries(
    [...fields, ...LIMITS].flatMap(({ name: field, label }) => [
      [field, label],
      [`config.${field}`, label],
    ]),
  );
  const refused = refusedAt(save.error, fields);
  const errors: Partial<Record<string, string>> = refused ?? fieldErrors(save.error, places, labels);
  const at = (field: string) => errors[`config.${field}`] ?? errors[field];
  const set = (field: string, value: Values[string]) => setValues({ ...values, [field]: value });
  const submit = () => {
    const config = { provider, ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "")) };
    save.mutate(
      { name, config },
      {
        onSuccess: () => {
          notifySuccess(
            fields.length === 0
              ? `“${name}” saved.`
              : `${carrier?.display_name ?? "The carrier"} accepted these credentials.`,
          );
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={account === null ? "Connect a carrier" : "Edit account"}
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit={account === null ? "Check and connect" : "Check and save"}
      isBusy={save.isPending}
      problem={refused === null ? formError(save.error, places, labels) : null}
      size="lg"
    >
      <Select
        label="Carrier"
        allowDeselect={false}
        disabled={account !== null}
        data={carriers.map((one) => ({ value: one.provider, label: one.display_name }))}
        value={provider}
        onChange={(next) => {
          if (next === null) return;
          if (name === carrier?.display_name)
            setName(carriers.find((one) => one.provider === next)?.display_name ?? "");
          setProvider(next);
          setValues({});
          // What one carrier refused says nothing about another.
          save.reset();
        }}
      />
      <TextInput
        label="Name"
        required
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={errors["name"]}
      />
      {fields.map((field) => (
        <CarrierField
          key={field.name}
          field={field}
          value={values[field.name]}
          stored={stored[field.name]}
          error={at(field.name)}
          onChange={(value) => set(field.name, value)}
        />
      ))}
      {fields.length > 0 && (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {LIMITS.map((limit) => (
            <NumberInput
              key={limit.name}
              label={limit.label}
              placeholder={limit.placeholder}
              clampBehavior="none"
              min={0}
              hideControls
              value={typeof values[limit.name] === "number" ? (values[limit.name] as number) : ""}
              error={at(limit.name)}
              onChange={(value) => set(limit.name, value)}
            />
          ))}
        </SimpleGrid>
      )}
      {carrier?.docs_url && (
        <Text fz="sm" c="dimmed">
          <Anchor fz="sm" href={carrier.docs_url} target="_blank" rel="noreferrer">
            Where to find these values
          </Anchor>
        </Text>
      )}
    </FormDialog>
  );
}

/** The carrier itself refused the account: that is said at what it was asked with, its first secret. */
function refusedAt(error: unknown, fields: Carrier["fields"]): Record<string, string> | null {
  const secret = fields.find(isSecret);
  if (!(error instanceof ApiError) || error.code !== "credentials_refused" || secret === undefined) return null;
  return { [secret.name]: error.message };
}

interface CarrierFieldProps {
  field: Schema<"TelephonyFieldResponse">;
  value: Values[string] | undefined;
  /** What the server has; of a secret, its mask. */
  stored: Values[string] | undefined;
  error: string | undefined;
  onChange: (value: string | boolean) => void;
}

function CarrierField({ field, value, stored, error, onChange }: CarrierFieldProps) {
  const common = { label: field.label, description: field.help === "" ? undefined : field.help, error };
  if (field.kind === "boolean") {
    return <Switch {...common} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />;
  }
  const kept = isSecret(field) && typeof stored === "string" && stored !== "" ? `Unchanged: ${stored}` : undefined;
  const text = {
    ...common,
    required: field.is_required,
    autoComplete: "off",
    placeholder: kept,
    value: typeof value === "string" ? value : "",
  };
  const change = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value);
  if (field.kind === "secret") return <Password {...text} onChange={change} />;
  if (field.kind === "multiline_secret")
    return <Textarea {...text} autosize minRows={3} maxRows={8} onChange={change} />;
  return <TextInput {...text} onChange={change} />;
}
