/** One language of an agent: its voice, its recognizer, and what is said in it instead of the agent's fixed sentences. */

import { ActionIcon, Autocomplete, Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { VoiceInput } from "../../../components/forms/voice-input";
import { Trash2 } from "lucide-react";
import type { useModelChoices } from "../settings/models-api";
import { settingError } from "../settings/setting-errors";
import { settingAt, withValue } from "../settings/setting-values";
import { useEditorContext } from "../state/editor";
import { type LanguageEntry, nameLanguage, translationsOf, withTranslation } from "./languages";

interface LanguageFieldsProps {
  entry: LanguageEntry;
  index: number;
  /** What needs a translation. */
  sentences: string[];
  choices: ReturnType<typeof useModelChoices>["data"];
  onChange: (entry: LanguageEntry) => void;
  onRemove: () => void;
}

export function LanguageFields({ entry, index, sentences, choices, onChange, onRemove }: LanguageFieldsProps) {
  const { document, canEdit, saving } = useEditorContext();
  const translations = translationsOf(entry);
  const obsolete = Object.keys(translations).filter((sentence) => !sentences.includes(sentence));
  const vendor = (kind: "tts" | "stt") => {
    const own = settingAt(document.configurations, `models.${kind}.provider`);
    const name = typeof own === "string" ? own : choices?.effective[kind].provider;
    return choices?.providers[kind]?.find((provider) => provider.provider === name);
  };
  const field = (path: string) => {
    const value = settingAt(entry, path);
    return {
      size: "sm",
      disabled: !canEdit,
      value: typeof value === "string" ? value : "",
      error: settingError(saving, `languages.${index}.${path}`),
      onChange: (next: string) => onChange({ ...withValue(entry, path, next), language: entry.language }),
    } as const;
  };
  const name = nameLanguage(entry.language);
  return (
    <Stack gap="sm">
      <VoiceInput
        {...field("models.tts.voice_id")}
        label="Voice"
        placeholder="The agent's voice"
        voices={vendor("tts")?.voices}
      />
      <Autocomplete
        {...field("models.stt.model")}
        label="Speech recognition model"
        placeholder="The agent's model"
        data={vendor("stt")?.models.map((model) => model.id) ?? []}
      />
      {sentences.map((sentence) => (
        <Textarea
          key={sentence}
          label={sentence}
          placeholder={`In ${name}`}
          size="sm"
          autosize
          minRows={1}
          lang={entry.language}
          disabled={!canEdit}
          value={translations[sentence] ?? ""}
          onChange={(event) => onChange(withTranslation(entry, sentence, event.currentTarget.value))}
        />
      ))}
      {obsolete.length > 0 && (
        <div>
          <Text fz="sm" c="dimmed">
            The agent no longer says:
          </Text>
          {obsolete.map((sentence) => (
            <Group key={sentence} gap={4} wrap="nowrap" justify="space-between">
              <Text fz="sm">{sentence}</Text>
              {canEdit && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Remove the translation of ${sentence}`}
                  onClick={() => onChange(withTranslation(entry, sentence, ""))}
                >
                  <Trash2 size={15} />
                </ActionIcon>
              )}
            </Group>
          ))}
        </div>
      )}
      {canEdit && (
        <div>
          <Button size="sm" variant="subtle" color="red" onClick={onRemove}>
            Remove {name}
          </Button>
        </div>
      )}
    </Stack>
  );
}
