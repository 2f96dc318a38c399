/** The languages that callers of this agent may speak, each with its voice, its recognizer and its translations. */

import { Accordion, Autocomplete, Button, Group, Text } from "@mantine/core";
import { Plus } from "lucide-react";
import { useState } from "react";
import { pluralize } from "../../../lib/format/format";
import { useEditorContext } from "../state/editor";
import { useModelChoices } from "../settings/models-api";
import { settingError } from "../settings/setting-errors";
import { settingAt } from "../settings/setting-values";
import { LanguageFields } from "./language-fields";
import {
  addLanguage,
  COMMON_LANGUAGES,
  fixedSentences,
  type LanguageEntry,
  MAX_LANGUAGES,
  nameLanguage,
  readLanguages,
  refuseLanguage,
  translationsOf,
  withLanguages,
} from "./languages";

export function LanguageSettings() {
  const { document, canEdit, change, saving } = useEditorContext();
  const choices = useModelChoices().data;
  const languages = readLanguages(document.configurations);
  const sentences = fixedSentences(document.definition, document.configurations);
  const save = (next: LanguageEntry[], topic = "") =>
    change((doc) => ({ ...doc, configurations: withLanguages(doc.configurations, next) }), topic);
  const own = settingAt(document.configurations, "models.stt.language");
  const spoken = typeof own === "string" ? own : (choices?.effective.stt.language ?? "en");
  const problem = settingError(saving, "languages");
  return (
    <>
      <Text fz="sm" c="dimmed">
        {languages.length === 0
          ? `Calls are in ${nameLanguage(spoken)}. Add a language, and the agent follows callers who speak it.`
          : "Calls begin in the first language. The agent follows callers into the others."}
      </Text>
      <Accordion multiple variant="contained">
        {languages.map((entry, index) => (
          <Accordion.Item key={entry.language} value={entry.language}>
            <Accordion.Control>
              <Text fz="sm">{nameLanguage(entry.language)}</Text>
              <Text fz="xs" c="dimmed">
                {index === 0 ? "Calls begin in this language" : describeTranslations(entry, sentences)}
              </Text>
            </Accordion.Control>
            <Accordion.Panel>
              <LanguageFields
                entry={entry}
                index={index}
                sentences={index === 0 ? [] : sentences}
                choices={choices}
                onChange={(next) =>
                  save(
                    languages.map((other, at) => (at === index ? next : other)),
                    `language ${entry.language}`,
                  )
                }
                onRemove={() => save(languages.filter((_, at) => at !== index))}
              />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
      {problem !== undefined && (
        <Text fz="sm" c="red" role="alert">
          {problem}
        </Text>
      )}
      {canEdit && languages.length < MAX_LANGUAGES && (
        <NewLanguage languages={languages} onAdd={(tag) => save(addLanguage(languages, tag, spoken))} />
      )}
    </>
  );
}

function NewLanguage({ languages, onAdd }: { languages: LanguageEntry[]; onAdd: (tag: string) => void }) {
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const add = () => {
    const tag = typed.trim();
    const refusal = refuseLanguage(languages, tag);
    setProblem(refusal);
    if (refusal !== null) return;
    onAdd(tag);
    setTyped("");
  };
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <Autocomplete
        aria-label="New language"
        placeholder="es or pt-BR"
        size="sm"
        flex={1}
        data={COMMON_LANGUAGES.filter((tag) => refuseLanguage(languages, tag) === null)}
        renderOption={({ option }) => `${nameLanguage(option.value)} (${option.value})`}
        value={typed}
        error={problem}
        onChange={(next) => {
          setTyped(next);
          setProblem(null);
        }}
      />
      <Button
        size="sm"
        variant="default"
        leftSection={<Plus size={14} />}
        disabled={typed.trim() === ""}
        aria-label="Add language"
        onClick={add}
      >
        Add
      </Button>
    </Group>
  );
}

function describeTranslations(entry: LanguageEntry, sentences: string[]): string {
  if (sentences.length === 0) return "No fixed sentences to translate";
  const done = translationsOf(entry);
  const count = sentences.filter((sentence) => done[sentence]?.trim()).length;
  return `${count} of ${pluralize(sentences.length, "sentence")} translated`;
}
