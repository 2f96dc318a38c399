/** What fields and settings are called where they are changed, for the lists of what differs. */

import { useMemo } from "react";
import type { Change, FieldChange } from "../../../graph/diff";
import { readable } from "../../../graph/readable";
import type { NodeSpec, PropertySpec } from "../../../graph/specs";
import { humanize } from "../../../lib/format/format";
import { useCredentials, useDocuments, useRecordings, useTools } from "../forms/choices-api";
import { useModelChoices } from "../settings/models-api";
import type { SettingSpec } from "../settings/setting-kinds";
import { SETTINGS } from "../settings/settings-spec";
import { useEditorContext } from "../state/editor";

export interface ChangeLabels {
  title: (change: Change) => string;
  field: (change: Change, field: FieldChange) => string;
  value: (change: Change, field: FieldChange, value: unknown) => string;
}

const EDGE_LABELS: Record<string, string> = {
  digits: "Keys",
  examples: "Example phrases",
  transition_speech: "Transition message",
  transition_speech_type: "Message type",
  transition_speech_recording_id: "Message recording",
};
/** Settings that only the API changes, and those that have forms of their own. */
const SETTING_TITLES: Record<string, string> = {
  models: "Models and voice",
  vad_configuration: "Voice detection",
  call_analysis: "Results and success",
};
const OF_SETTINGS: Record<string, string> = {
  "models.llm": "Language model",
  "models.tts": "Voice",
  "models.stt": "Speech recognition",
  "models.realtime": "Speech-to-speech model",
  "vad_configuration.start_seconds": "Speech before the agent reacts",
  "vad_configuration.stop_seconds": "Silence that ends speech",
  "vad_configuration.minimum_level_db": "Minimum level",
  "call_analysis.write_summary": "Write a summary of each call",
  "call_analysis.criteria": "Success criteria",
};
const UNITS: Record<string, string> = {
  "vad_configuration.start_seconds": "s",
  "vad_configuration.stop_seconds": "s",
  "vad_configuration.minimum_level_db": "dBFS",
};
/** What the fields of a model are called where it is chosen. */
const MODEL_FIELDS: Record<string, string> = { provider: "vendor", voice_id: "voice" };

function pathOf(change: Change, field: FieldChange): string {
  return field.field === "value" ? change.id : `${change.id}.${field.field}`;
}

function withFieldNames(model: object): object {
  return Object.fromEntries(Object.entries(model).map(([key, value]) => [MODEL_FIELDS[key] ?? key, value as unknown]));
}

function settingOf(change: Change, field: FieldChange): SettingSpec | undefined {
  const path = pathOf(change, field);
  return SETTINGS.flatMap((group) => group.properties).find((property) => property.name === path);
}

function unitOf(change: Change, field: FieldChange): string | undefined {
  return settingOf(change, field)?.unit ?? UNITS[pathOf(change, field)];
}

export function changeLabels(specs: ReadonlyMap<string, NodeSpec>, names: ReadonlyMap<string, string>): ChangeLabels {
  const properties = new Map(
    [...specs.values()].flatMap((spec) => spec.properties.map((property) => [property.name, property] as const)),
  );
  const propertyOf = (change: Change, field: FieldChange): PropertySpec | undefined =>
    change.kind === "setting"
      ? settingOf(change, field)
      : change.kind === "node"
        ? properties.get(field.field)
        : undefined;
  return {
    title: (change) => {
      if (change.kind !== "setting") return change.title;
      const group = SETTINGS.find(({ properties: all }) =>
        all.some(({ name }) => name === change.id || name.startsWith(`${change.id}.`)),
      );
      return (
        group?.properties.find(({ name }) => name === change.id)?.display_name ??
        group?.title ??
        SETTING_TITLES[change.id] ??
        humanize(change.title)
      );
    },
    field: (change, field) => {
      if (change.kind === "node" && field.field === "type") return "Type";
      const others = change.kind === "edge" ? EDGE_LABELS[field.field] : OF_SETTINGS[pathOf(change, field)];
      return propertyOf(change, field)?.display_name ?? others ?? humanize(field.field);
    },
    value: (change, field, value) => {
      if (change.kind === "node" && field.field === "type")
        return specs.get(String(value))?.display_name ?? readable(value);
      const property = propertyOf(change, field);
      const option = property?.options?.find((candidate) => candidate.value === value);
      if (option !== undefined) return option.label;
      const isModel = change.id === "models" && typeof value === "object" && value !== null;
      const words = readable(isModel ? withFieldNames(value) : value, (id) => names.get(id));
      const unit = change.kind === "setting" ? unitOf(change, field) : undefined;
      return typeof value === "number" && unit !== undefined ? `${words} ${unit}` : words;
    },
  };
}

export function useChangeLabels(): ChangeLabels {
  const { specs } = useEditorContext();
  const tools = useTools().data;
  const documents = useDocuments().data;
  const recordings = useRecordings().data;
  const credentials = useCredentials().data;
  const models = useModelChoices().data;
  return useMemo(() => {
    const choices = [tools, documents, recordings, credentials].flatMap((list) => list ?? []);
    const vendors = Object.values(models?.providers ?? {}).flat();
    return changeLabels(
      specs,
      new Map([
        ...vendors.map(({ provider, title }) => [provider, title] as const),
        ...choices.map(({ value, label }) => [value, label] as const),
      ]),
    );
  }, [specs, tools, documents, recordings, credentials, models]);
}
