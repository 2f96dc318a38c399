/** What a voice pack is, in words. */

import { formatFileSize, pluralize } from "../../../../lib/format/format";
import type { InstalledPack, Offer } from "./api";

/** "English recognizer and voice · 71.1 MB · Apache-2.0, MIT". */
export function describeContent(pack: Offer): string {
  const languages = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });
  const spoken = pack.languages.map((code) => nameOf(languages, code)).join(", ");
  const parts = [pack.stt && "recognizer", pack.tts && "voice"].filter(Boolean).join(" and ");
  return [`${spoken} ${parts}`, formatFileSize(pack.size_bytes), pack.licenses.join(", ")].join(" · ");
}

function nameOf(languages: Intl.DisplayNames, code: string): string {
  try {
    return languages.of(code) ?? code;
  } catch {
    return code; // a manifest's languages are free text
  }
}

export function describeUse(pack: InstalledPack): string | null {
  if (pack.is_default) return "Installation default";
  return pack.organization_count === 0 ? null : `Used by ${pluralize(pack.organization_count, "organization")}`;
}

/** The lines of a field with one address each. */
export function parseAddresses(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
