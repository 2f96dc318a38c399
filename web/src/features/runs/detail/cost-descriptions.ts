/** Amounts and prices as people compare them: pure. */

import { pluralize, formatMoney } from "../../../lib/format/format";

/** `prompt_token` is counted as "4,116 prompt tokens". */
export function describeAmount(quantity: number, unit: string): string {
  return pluralize(Math.round(quantity * 100) / 100, unit.replaceAll("_", " "));
}

/** Of what is cheap each, the price of so many that it can be read. */
export function describePrice(cents: number, unit: string): string {
  if (cents === 0) return "free";
  const name = unit.replaceAll("_", " ");
  if (unit.endsWith("token") || unit === "character") return `${formatMoney(cents * 1_000_000)} per million ${name}s`;
  if (unit === "text_message") return `${formatMoney(cents * 1000)} per thousand ${name}s`;
  return unit === "second" ? `${formatMoney(cents * 60)} per minute` : `${formatMoney(cents)} per ${name}`;
}
