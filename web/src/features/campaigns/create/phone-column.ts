/** Which column of a contact file holds the phone numbers, by its name: pure. */

/** A name says that it is a phone number when it has one of these words, … */
const PHONES = new Set(["phone", "phones", "telephone", "tel", "mobile", "cell", "cellphone", "msisdn"]);
/** … and none but these beside it: "Phone type" is no number. */
const BESIDE = new Set(["number", "no", "nr", "num", "contact", "customer", "home", "work", "primary", "main", "e164"]);

/** Returns its index; null without one, or with several. */
export function guessPhoneColumn(names: readonly string[]): number | null {
  const found = names.flatMap((name, index) => (isPhoneName(name) ? [index] : []));
  return found.length === 1 ? (found[0] ?? null) : null;
}

function isPhoneName(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  return words.some((word) => PHONES.has(word)) && words.every((word) => PHONES.has(word) || BESIDE.has(word));
}
