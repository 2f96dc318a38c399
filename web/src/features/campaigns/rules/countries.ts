/** Countries by their two letters, with the names that people know. */

const NAMES = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
const LETTERS = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
/** Regions that Intl names and that have no telephone numbers of their own. */
const NO_COUNTRY = new Set([
  "AQ",
  "BV",
  "CP",
  "CQ",
  "DG",
  "EA",
  "EU",
  "EZ",
  "GS",
  "HM",
  "IC",
  "PN",
  "QO",
  "TF",
  "UM",
  "UN",
  "XA",
  "XB",
  "ZZ",
]);

export function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (NAMES.of(code) ?? code) : code;
}

/** As a MultiSelect wants them, by name. Two letters of the same country, as old ones are, are there once. */
export function countryChoices(): { value: string; label: string }[] {
  const found = new Map<string, string>();
  for (const first of LETTERS) {
    for (const second of LETTERS) {
      const code = first + second;
      const name = NAMES.of(code);
      const isOwn = Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`;
      if (name !== undefined && isOwn && !NO_COUNTRY.has(code)) found.set(code, name);
    }
  }
  return [...found].map(([value, label]) => ({ value, label })).sort((a, b) => a.label.localeCompare(b.label));
}
