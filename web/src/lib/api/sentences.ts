/** What the API says about one value, as a sentence that names its field as the page does. */

import { humanize } from "../format/format";

/** Fields whose label is not simply their name. */
const LABELS: Record<string, string> = {
  activity_description: "What it does",
  address: "Number",
  api_key: "API key",
  base_url: "Address",
  cents: "Amount",
  contacts_file_key: "Contacts",
  credential_type: "Kind",
  email: "E-mail",
  existing_number: "Your number",
  header_name: "Header",
  inbound_workflow_id: "Answered by",
  max_concurrency: "Calls at the same time",
  max_tokens: "Longest answer",
  phone_number: "Number",
  phone_numbers: "Numbers",
  provider: "Vendor",
  redial_statuses: "Contacts whose call ended with",
  retrieval_mode: "What agents get of it",
  retry_config: "Call again",
  spend_cap_cents: "Pause when it has cost",
  timeout_ms: "Longest wait",
  timezone: "Time zone",
  url: "Address",
  use_case: "What it is for",
  username: "User",
  voice_id: "Voice",
  voicemail: "When a machine answers",
  workflow_id: "Agent",
};

/** What a field is called, by the last name of its path: `config.headers.0.phone_number` is "Number". */
export function labelOf(path: string): string {
  const name = path.split(".").findLast((step) => !/^\d+$/.test(step)) ?? "";
  return LABELS[name] ?? humanize(name);
}

const RULES: [RegExp, (label: string, rest: string) => string][] = [
  [/^Field required$/, (label) => `${label} is needed`],
  [/^\w+ should have at least 1 \w+/, (label) => `${label} is needed`],
  [/^String should match pattern/, (label) => `${label} is not written in a way that can be used here`],
  [/^Extra inputs are not permitted$/, (label) => `${label} is not known here`],
  [/^Input should be a valid integer/, (label) => `${label} should be a whole number`],
  [/^Input should be a valid number/, (label) => `${label} should be a number`],
  [/^Input should be a valid string$/, (label) => `${label} should be text`],
  [/^Input should be (.*)$/s, (label, rest) => `${label} should be ${rest}`],
  [/^\w+ should (have .*?)(?: after validation, not \d+)?$/s, (label, rest) => `${label} should ${rest}`],
  [/^value is not a valid email address: (.*)$/s, (_, rest) => rest],
];

/** `said` is the API's own message; what it writes for people itself stays as it is. Always ends with a full stop. */
export function sentence(label: string, said: string): string {
  const plain = said.replace(/^Value error, /, "").replace(/\.$/, "");
  for (const [pattern, say] of RULES) {
    const match = pattern.exec(plain);
    if (match !== null) return `${say(label, match[1] ?? "")}.`;
  }
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}.`;
}

/** For where no field stands beside it: the label comes first, unless the sentence begins with it anyway. */
export function sentenceWithLabel(label: string, said: string): string {
  const whole = sentence(label, said);
  return label === "" || whole.toLowerCase().startsWith(label.toLowerCase()) ? whole : `${label}: ${whole}`;
}
