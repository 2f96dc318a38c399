/** An account at a carrier: the fields that the carrier's metadata name, checked with the carrier when it is saved. */

import { Anchor, PasswordInput, Select, Skeleton, Switch, Text, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "../../components/dialog";
import { fieldErrors, formError } from "../../lib/errors";
import { done } from "../../lib/notice";
import type { Schema } from "../../lib/types";
import { type Account, type Carrier, useAccount, useSaveAccount } from "./api";

type Values = Record<string, string | boolean>;

interface AccountFormProps {
  account: Account | null;
  carriers: Carrier[];
  onClose: () => void;
}

export function AccountForm({ account, carriers, onClose }: AccountFormProps) {
  const stored = useAccount(account?.id ?? null);
  if (account !== null && stored.data === undefined) return <Skeleton h={0} />;
  return <Form account={account} stored={(stored.data?.credentials ?? {}) as Values} carriers={carriers} onClose={onClose} />;
}

function Form({ account, stored, carriers, onClose }: AccountFormProps & { stored: Values }) {
  const save = useSaveAccount(account?.id ?? null);
  const [provider, setProvider] = useState(account?.provider ?? carriers[0]?.provider ?? "");
  const [name, setName] = useState(account?.name ?? "");
  const [values, setValues] = useState<Values>(stored);
  const carrier = carriers.find((one) => one.provider === provider);
  const fields = carrier?.fields ?? [];
  const places = ["name", ...fields.map((field) => `config.${field.name}`), ...fields.map((field) => field.name)];
  const errors: Partial<Record<string, string>> = fieldErrors(save.error, places);
  const submit = () => {
    const filled = fields.filter((field) => values[field.name] !== undefined && values[field.name] !== "");
    const config = { provider, ...Object.fromEntries(filled.map((field) => [field.name, values[field.name]])) };
    save.mutate(
      { name, config },
      {
        onSuccess: () => {
          done(`${carrier?.display_name ?? "The carrier"} takes these credentials.`);
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={account === null ? "Connect a carrier" : "Edit the account"}
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit={account === null ? "Check and connect" : "Check and save"}
      isBusy={save.isPending}
      problem={formError(save.error, places)}
    >
      <Select
        label="Carrier"
        allowDeselect={false}
        disabled={account !== null}
        data={carriers.map((one) => ({ value: one.provider, label: one.display_name }))}
        value={provider}
        onChange={(next) => {
          if (next === null) return;
          setProvider(next);
          setValues({});
        }}
      />
      <TextInput label="Name" required data-autofocus value={name} onChange={(event) => setName(event.currentTarget.value)} error={errors["name"]} />
      {fields.map((field) => (
        <CarrierField
          key={field.name}
          field={field}
          value={values[field.name]}
          error={errors[`config.${field.name}`] ?? errors[field.name]}
          onChange={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
      {carrier?.docs_url && (
        <Text fz="sm" c="dimmed">
          <Anchor fz="sm" href={carrier.docs_url} target="_blank" rel="noreferrer">
            Where to find these
          </Anchor>
        </Text>
      )}
    </FormDialog>
  );
}

interface CarrierFieldProps {
  field: Schema<"TelephonyFieldResponse">;
  value: string | boolean | undefined;
  error: string | undefined;
  onChange: (value: string | boolean) => void;
}

function CarrierField({ field, value, error, onChange }: CarrierFieldProps) {
  const common = { label: field.label, description: field.help === "" ? undefined : field.help, error };
  if (field.kind === "boolean") {
    return <Switch {...common} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />;
  }
  const text = { ...common, required: field.is_required, autoComplete: "off", value: typeof value === "string" ? value : "" };
  if (field.kind === "secret") return <PasswordInput {...text} onChange={(event) => onChange(event.currentTarget.value)} />;
  if (field.kind === "multiline_secret") return <Textarea {...text} autosize minRows={3} maxRows={8} onChange={(event) => onChange(event.currentTarget.value)} />;
  return <TextInput {...text} onChange={(event) => onChange(event.currentTarget.value)} />;
}
