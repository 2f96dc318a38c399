/** The models of this agent, where they differ from those of the organization. */

import { Autocomplete, NumberInput, Select, Stack, Text } from "@mantine/core";
import type { components } from "../../../lib/api/api";
import { Problem } from "../../../components/feedback/problem";
import { VoiceInput } from "../../../components/forms/voice-input";
import { VoicePreview } from "../../../components/forms/voice-preview";
import { useEditorContext } from "../state/editor";
import { type Provider, useModelChoices } from "./models-api";
import { RealtimeSettings } from "./realtime-settings";
import { settingError } from "./setting-errors";
import { settingAt, withValue } from "./setting-values";

type Kind = "llm" | "tts" | "stt";

const TITLES: Record<Kind, string> = { llm: "Language model", tts: "Voice", stt: "Speech recognition" };

export function ModelSettings() {
  const models = useModelChoices();
  if (models.isError) return <Problem error={models.error} onRetry={() => void models.refetch()} />;
  return (
    <>
      {(["llm", "tts", "stt"] as const).map((kind) => (
        <KindSettings
          key={kind}
          kind={kind}
          providers={models.data?.providers[kind] ?? []}
          standard={models.data?.effective[kind]}
        />
      ))}
      <RealtimeSettings
        providers={models.data?.providers["realtime"] ?? []}
        standard={models.data?.kept}
        isStandardOn={models.data?.effective.is_realtime ?? false}
      />
    </>
  );
}

interface KindProps {
  kind: Kind;
  providers: Provider[];
  standard: components["schemas"]["EffectiveService"] | undefined;
}

function KindSettings({ kind, providers, standard }: KindProps) {
  const { document, canEdit, change, saving } = useEditorContext();
  const path = `models.${kind}`;
  const value = (name: string) => settingAt(document.configurations, `${path}.${name}`);
  const words = (name: string) => (typeof value(name) === "string" ? (value(name) as string) : "");
  const set = (name: string, next: unknown) =>
    change(
      (doc) => ({ ...doc, configurations: withValue(doc.configurations, `${path}.${name}`, next) }),
      `setting ${path}.${name}`,
    );
  // Another vendor has other models and voices: what belongs to the old one goes with it.
  const setProvider = (next: string | null) =>
    change((doc) => ({
      ...doc,
      configurations: withValue(
        next === null ? withValue(doc.configurations, path, undefined) : doc.configurations,
        path,
        next === null ? undefined : { provider: next },
      ),
    }));
  const provider = providers.find((candidate) => candidate.provider === (words("provider") || standard?.provider));
  const standardName =
    providers.find((candidate) => candidate.provider === standard?.provider)?.title ?? standard?.provider ?? "…";
  const common = (name: string) =>
    ({ size: "sm", disabled: !canEdit, error: settingError(saving, `${path}.${name}`) }) as const;
  const isStandard = words("provider") === "";
  const speed = value("speed");
  const heard = {
    provider: words("provider") || (standard?.provider ?? ""),
    ...(words("model") === "" ? {} : { model: words("model") }),
    ...(words("voice_id") === "" ? {} : { voice_id: words("voice_id") }),
    ...(typeof speed === "number" ? { speed } : {}),
  };
  return (
    <Stack gap={8}>
      <Text fw={600} fz="sm">
        {TITLES[kind]}
      </Text>
      <Select
        {...common("provider")}
        aria-label={`${TITLES[kind]}: vendor`}
        placeholder={`Organization default: ${standardName}`}
        clearable
        data={providers.map((candidate) => ({ value: candidate.provider, label: candidate.title }))}
        value={words("provider") || null}
        onChange={setProvider}
      />
      <Autocomplete
        {...common("model")}
        aria-label={`${TITLES[kind]}: model`}
        placeholder={isStandard ? `Model: ${standard?.model ?? "…"}` : "Model: vendor default"}
        data={provider?.models.map((model) => model.id) ?? []}
        value={words("model")}
        onChange={(next) => set("model", next)}
      />
      {kind === "llm" && (
        <NumberInput
          {...common("temperature")}
          label="Temperature"
          description="0 is consistent, 2 is creative."
          placeholder={String(standard?.temperature ?? "vendor default")}
          min={0}
          max={2}
          step={0.1}
          clampBehavior="none"
          value={typeof value("temperature") === "number" ? (value("temperature") as number) : ""}
          onChange={(next) => set("temperature", next === "" ? undefined : Number(next))}
        />
      )}
      {kind === "tts" && (
        <>
          <VoiceInput
            {...common("voice_id")}
            aria-label="Voice"
            placeholder={`Voice: ${(isStandard && standard?.voice_id) || "vendor default"}`}
            voices={provider?.voices}
            value={words("voice_id")}
            onChange={(next) => set("voice_id", next)}
            rightSectionPointerEvents="all"
            rightSection={canEdit && <VoicePreview voice={provider === undefined ? null : heard} />}
          />
          <NumberInput
            {...common("speed")}
            label="Speed"
            description="1 is normal speed."
            placeholder={String(standard?.speed ?? 1)}
            min={provider?.speed_range?.[0] ?? 0.25}
            max={provider?.speed_range?.[1] ?? 4}
            step={0.05}
            clampBehavior="none"
            value={typeof value("speed") === "number" ? (value("speed") as number) : ""}
            onChange={(next) => set("speed", next === "" ? undefined : Number(next))}
          />
        </>
      )}
      {kind === "stt" && (
        <Autocomplete
          {...common("language")}
          aria-label="Language"
          placeholder={`Language: ${standard?.language ?? "automatic"}`}
          data={provider?.languages ?? []}
          value={words("language")}
          onChange={(next) => set("language", next)}
        />
      )}
    </Stack>
  );
}
