/** One form field for each type that the node kinds declare. */

import {
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  Switch,
  TagsInput,
  Text,
  TextInput,
  Textarea,
} from "@mantine/core";
import type { ReactNode } from "react";
import { text } from "../../../graph/definition";
import { type PropertySpec, valueOf } from "../../../graph/specs";
import { CollectionField } from "./collection-field";
import { JsonField } from "./json-field";
import { DocumentField } from "./document-field";
import { CredentialField, RecordingField, ToolField } from "./reference-fields";
import { PromptField } from "./prompt-field";

export interface FieldProps {
  property: PropertySpec;
  /** As stored; the declared default stands in where there is none. */
  value: unknown;
  error: string | undefined;
  isOff: boolean;
  onChange: (value: unknown) => void;
  /** The error of a field further inside, by its dotted path. */
  errorAt: (path: string) => string | undefined;
}

export interface InnerProps extends FieldProps {
  common: { label: string; description: string; error: string | undefined; disabled: boolean; withAsterisk: boolean };
}

const SHORT_CHOICE = 3;
/** The field is narrow, the sentence above it is not. */
export const NARROW = { wrapper: { maxWidth: 200 } };

export function Field(props: FieldProps): ReactNode {
  const { property } = props;
  const common = {
    label: property.display_name,
    description: property.description,
    error: props.error,
    disabled: props.isOff,
    withAsterisk: property.required === true,
  };
  const Inner = FIELDS[property.type] ?? JsonField;
  return <Inner {...props} common={common} />;
}

const FIELDS: Partial<Record<PropertySpec["type"], (props: InnerProps) => ReactNode>> = {
  string: TextField,
  url: TextField,
  mention_textarea: PromptField,
  number: NumberField,
  boolean: BooleanField,
  options: OptionsField,
  multi_options: ManyOptionsField,
  fixed_collection: CollectionField,
  json: PhrasesOrJson,
  tool_refs: ToolField,
  document_refs: DocumentField,
  recording_ref: RecordingField,
  credential_ref: CredentialField,
};

function TextField({ property, value, onChange, common }: InnerProps) {
  const shared = {
    ...common,
    value: text(value),
    placeholder: property.placeholder ?? undefined,
    maxLength: property.max_length ?? undefined,
  };
  if (property.editor === "textarea") {
    return (
      <Textarea
        {...shared}
        autosize
        minRows={2}
        maxRows={10}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <TextInput
      {...shared}
      type={property.type === "url" ? "url" : "text"}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function NumberField({ property, value, onChange, common }: InnerProps) {
  return (
    <NumberInput
      {...common}
      value={typeof value === "number" ? value : ""}
      min={property.min_value ?? undefined}
      max={property.max_value ?? undefined}
      allowDecimal={property.extra?.fractional === true}
      clampBehavior="none"
      styles={NARROW}
      onChange={(next) => onChange(next === "" ? undefined : Number(next))}
    />
  );
}

function BooleanField({ value, onChange, common: { withAsterisk: _, ...common } }: InnerProps) {
  return <Switch {...common} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />;
}

/** A choice as the library holds it, which knows texts alone. */
function choiceName(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function OptionsField({ property, value, onChange, common }: InnerProps) {
  const options = property.options ?? [];
  const byName = new Map(options.map((option) => [choiceName(option.value), option.value]));
  const data = options.map((option) => ({ value: choiceName(option.value), label: option.label }));
  const change = (name: string | null) => onChange(name === null ? undefined : byName.get(name));
  if (options.length > SHORT_CHOICE || value === undefined || common.error !== undefined) {
    return (
      <Select
        {...common}
        data={data}
        value={value === undefined ? null : choiceName(value)}
        clearable={property.required !== true && property.default == null}
        onChange={change}
      />
    );
  }
  return (
    <div>
      <Text component="div" fz="sm" fw={600}>
        {common.label}
      </Text>
      <Text component="div" fz="xs" c="dimmed" mb={6}>
        {common.description}
      </Text>
      <SegmentedControl
        size="xs"
        aria-label={common.label}
        data={data}
        value={choiceName(value)}
        disabled={common.disabled}
        onChange={change}
      />
    </div>
  );
}

function ManyOptionsField({ property, value, onChange, common }: InnerProps) {
  const data = (property.options ?? []).map((option) => ({ value: choiceName(option.value), label: option.label }));
  return (
    <MultiSelect
      {...common}
      data={data}
      value={words(value)}
      clearable
      onChange={(next) => onChange(next.length === 0 ? undefined : next)}
    />
  );
}

/** Free JSON, but phrases as the list that they are. */
function PhrasesOrJson(props: InnerProps) {
  const { property, value, onChange, common } = props;
  const isPhrases =
    property.name === "examples" &&
    (value === undefined || (Array.isArray(value) && value.every((item) => typeof item === "string")));
  if (!isPhrases) return <JsonField {...props} />;
  return (
    <TagsInput
      {...common}
      value={words(value)}
      placeholder="Type and press Enter"
      splitChars={["\n"]}
      onChange={(next) => onChange(next.length === 0 ? undefined : next)}
    />
  );
}

export function words(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export { valueOf };
