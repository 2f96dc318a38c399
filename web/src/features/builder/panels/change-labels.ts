/** What fields and settings are called where they are changed, for the lists of what differs. */

import { useMemo } from "react";
import type { Change, FieldChange } from "../../../graph/diff";
import { readable } from "../../../graph/readable";
import type { NodeSpec, PropertySpec } from "../../../graph/specs";
import { humanize } from "../../../lib/format/format";
import { useCredentials, useDocuments, useRecordings, useTools } from "../forms/choices-api";
import { useEditorContext } from "../state/editor";
import { SETTINGS } from "../settings/settings-spec";

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
const OF_SETTINGS: Record<string, string> = {
  "models.llm": "Language model",
  "models.tts": "Voice",
  "models.stt": "Speech recognition",
};

function settingOf(change: Change, field: FieldChange): PropertySpec | undefined {
  const path = field.field === "value" ? change.id : `${change.id}.${field.field}`;
  return SETTINGS.flatMap((group) => group.properties).find((property) => property.name === path);
}

export function changeLabels(specs: ReadonlyMap<string, NodeSpec>, names: ReadonlyMap<string, string>): ChangeLabels {
  const properties = new Map(
    [...specs.values()].flatMap((spec) => spec.properties.map((property) => [property.name, property] as const)),
  );
  const propertyOf = (change: Change, field: FieldChange) =>
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
        group?.properties.find(({ name }) => name === change.id)?.display_name ?? group?.title ?? humanize(change.title)
      );
    },
    field: (change, field) => {
      if (change.kind === "node" && field.field === "type") return "Type";
      const others = change.kind === "edge" ? EDGE_LABELS[field.field] : OF_SETTINGS[`${change.id}.${field.field}`];
      return propertyOf(change, field)?.display_name ?? others ?? humanize(field.field);
    },
    value: (change, field, value) => {
      if (change.kind === "node" && field.field === "type")
        return specs.get(String(value))?.display_name ?? readable(value);
      const option = propertyOf(change, field)?.options?.find((candidate) => candidate.value === value);
      return option?.label ?? readable(value, (id) => names.get(id));
    },
  };
}

export function useChangeLabels(): ChangeLabels {
  const { specs } = useEditorContext();
  const tools = useTools().data;
  const documents = useDocuments().data;
  const recordings = useRecordings().data;
  const credentials = useCredentials().data;
  return useMemo(() => {
    const choices = [tools, documents, recordings, credentials].flatMap((list) => list ?? []);
    return changeLabels(specs, new Map(choices.map(({ value, label }) => [value, label])));
  }, [specs, tools, documents, recordings, credentials]);
}
