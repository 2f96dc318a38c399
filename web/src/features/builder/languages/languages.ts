/** The languages of an agent and what is said in them: pure. */

import { type Definition, object, text } from "../../../graph/definition";
import { settingAt, withValue } from "../settings/setting-values";

type Settings = Record<string, unknown>;

/** An entry of `languages`. What the page has no fields for (`phrases`) stays as it is. */
export type LanguageEntry = Settings & { language: string };

/** What the server takes (MAX_LANGUAGES). */
export const MAX_LANGUAGES = 6;

/** The languages in which the engine's own phrases exist. */
export const COMMON_LANGUAGES = ["ar", "de", "en", "es", "fr", "hi", "ja", "pt", "ru", "zh"];

export function readLanguages(configurations: Settings): LanguageEntry[] {
  const stored = configurations["languages"];
  if (!Array.isArray(stored)) return [];
  return stored.map(object).map((entry) => ({ ...entry, language: text(entry["language"]) }));
}

export function withLanguages(configurations: Settings, languages: LanguageEntry[]): Settings {
  return withValue(configurations, "languages", languages.length === 0 ? undefined : languages);
}

/** With one more language; the first one that is added stands behind the language that calls have had so far. */
export function addLanguage(languages: LanguageEntry[], tag: string, spoken: string): LanguageEntry[] {
  const before = languages.length > 0 || isSame(tag, spoken) ? languages : [{ language: spoken }];
  return [...before, { language: tag }];
}

/** Why a tag cannot be added; null if it can. */
export function refuseLanguage(languages: LanguageEntry[], tag: string): string | null {
  if (!/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(tag)) return "Enter a language code such as es or pt-BR.";
  if (languages.some((entry) => isSame(entry.language, tag))) return `${nameLanguage(base(tag))} is already listed.`;
  return null;
}

/** "Spanish (Mexico)"; the tag where there is no name for it. */
export function nameLanguage(tag: string): string {
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** What the agent says word for word, each sentence once: what a language needs a translation of. */
export function fixedSentences(definition: Definition, configurations: Settings): string[] {
  const found = [
    text(settingAt(configurations, "disclosure.text")),
    ...definition.nodes.flatMap(({ data }) => [text(data["greeting"]), text(data["say"])]),
    ...definition.edges.map(({ data }) => text(data["transition_speech"])),
  ];
  return [...new Set(found.map((sentence) => sentence.trim()).filter((sentence) => sentence !== ""))];
}

export function translationsOf(entry: LanguageEntry): Record<string, string> {
  return Object.fromEntries(Object.entries(object(entry["translations"])).map(([from, to]) => [from, text(to)]));
}

/** The entry with another translation of a sentence; "" removes it. */
export function withTranslation(entry: LanguageEntry, sentence: string, translation: string): LanguageEntry {
  const { translations: _, ...rest } = entry;
  const { [sentence]: __, ...others } = translationsOf(entry);
  const next = translation === "" ? others : { ...others, [sentence]: translation };
  const bare = { ...rest, language: entry.language };
  return Object.keys(next).length === 0 ? bare : { ...bare, translations: next };
}

function base(tag: string): string {
  return tag.split("-")[0]?.toLowerCase() ?? "";
}

function isSame(one: string, other: string): boolean {
  return base(one) === base(other);
}
