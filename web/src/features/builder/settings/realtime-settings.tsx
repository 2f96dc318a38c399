/** Whether a speech-to-speech model answers the calls of this agent, and which one. */

import { Autocomplete, Select, Stack, Text } from "@mantine/core";
import { VoiceInput } from "../../../components/forms/voice-input";
import { useEditorContext } from "../state/editor";
import type { Provider } from "./models-api";
import { settingError } from "./setting-errors";
import { settingAt, withValue } from "./setting-values";

const TITLE = "Speech-to-speech model";
const PATH = "models.realtime";
const SWITCH = "models.is_realtime";

interface RealtimeSettingsProps {
  providers: Provider[];
  /** The vendor that the organization has chosen, if any, and whether its calls use it. */
  standard: string | undefined;
  isStandardOn: boolean;
}

export function RealtimeSettings({ providers, standard, isStandardOn }: RealtimeSettingsProps) {
  const { document, canEdit, change, saving } = useEditorContext();
  const configurations = document.configurations;
  const isOn = settingAt(configurations, SWITCH);
  const words = (name: string) => {
    const value = settingAt(configurations, `${PATH}.${name}`);
    return typeof value === "string" ? value : "";
  };
  const set = (next: Record<string, unknown>, topic: string) =>
    change((doc) => ({ ...doc, configurations: next }), `setting ${topic}`);
  const choose = (next: string | null) => {
    const cleared = withValue(withValue(configurations, PATH, undefined), SWITCH, undefined);
    if (next === null) {
      set(cleared, SWITCH);
      return;
    }
    const chosen = withValue(cleared, SWITCH, next === "on");
    // An organization without one has nothing that the agent could take over.
    const needsVendor = next === "on" && standard === undefined;
    set(needsVendor ? withValue(chosen, `${PATH}.provider`, providers[0]?.provider) : chosen, SWITCH);
  };
  const provider = providers.find((one) => one.provider === (words("provider") || standard));
  const standardName = providers.find((one) => one.provider === standard)?.title;
  const common = (path: string) => ({ size: "sm", disabled: !canEdit, error: settingError(saving, path) }) as const;
  const hint = standard === undefined || !isStandardOn ? "none" : (standardName ?? standard);
  return (
    <Stack gap={8}>
      <Text fw={600} fz="sm">
        {TITLE}
      </Text>
      <Select
        {...common(SWITCH)}
        aria-label={`${TITLE}: use`}
        placeholder={`Organization default: ${hint}`}
        clearable
        data={[
          { value: "on", label: "Answers calls" },
          { value: "off", label: "Not used" },
        ]}
        value={typeof isOn === "boolean" ? (isOn ? "on" : "off") : null}
        onChange={choose}
      />
      {isOn === true && (
        <>
          <Select
            {...common(`${PATH}.provider`)}
            aria-label={`${TITLE}: vendor`}
            placeholder={`Organization default: ${standardName ?? "…"}`}
            allowDeselect={false}
            data={providers.map((one) => ({ value: one.provider, label: one.title }))}
            value={words("provider") || null}
            onChange={(next) => set(withValue(configurations, PATH, next ? { provider: next } : undefined), PATH)}
          />
          <Autocomplete
            {...common(`${PATH}.model`)}
            aria-label={`${TITLE}: model`}
            placeholder="Model: default"
            data={provider?.models.map((model) => model.id) ?? []}
            value={words("model")}
            onChange={(next) => set(withValue(configurations, `${PATH}.model`, next), `${PATH}.model`)}
          />
          <VoiceInput
            {...common(`${PATH}.voice_id`)}
            aria-label={`${TITLE}: voice`}
            placeholder="Voice: default"
            voices={provider?.voices}
            value={words("voice_id")}
            onChange={(next) => set(withValue(configurations, `${PATH}.voice_id`, next), `${PATH}.voice_id`)}
          />
          {settingError(saving, `${PATH}.api_key`) !== undefined && (
            <Text fz="sm" c="red">
              This vendor has no key yet. An admin can add one in Settings, Models.
            </Text>
          )}
          <Text fz="sm" c="dimmed">
            It answers in its own voice; the voice above says fixed sentences. These calls cannot be replayed with
            another version.
          </Text>
        </>
      )}
    </Stack>
  );
}
