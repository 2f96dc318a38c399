/** Reading and changing one setting by its dotted path: pure. */

export function settingAt(values: Record<string, unknown>, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (value, key) =>
        typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined,
      values,
    );
}

const MESSAGE = "voicemail_detection.message";
/** What is said to a machine until the author writes something else: a message without words would not be stored. */
const STANDARD_MESSAGE = "Hello, we tried to reach you and will call again. Goodbye.";

/** A setting as it is chosen: one that needs another brings it along. */
export function withSetting(values: Record<string, unknown>, path: string, value: unknown): Record<string, unknown> {
  const next = withValue(values, path, value);
  const lacks =
    path === "voicemail_detection.action" &&
    value === "message" &&
    !settingAt(values, MESSAGE) &&
    !settingAt(values, `${MESSAGE}_recording_id`);
  return lacks ? withValue(next, MESSAGE, STANDARD_MESSAGE) : next;
}

/** A copy with the value at the path; `undefined` and "" remove it, and objects that are empty then. */
export function withValue(values: Record<string, unknown>, path: string, value: unknown): Record<string, unknown> {
  const [key = "", ...rest] = path.split(".");
  const inner = typeof values[key] === "object" && values[key] !== null ? (values[key] as Record<string, unknown>) : {};
  const next = rest.length === 0 ? (value === "" ? undefined : value) : withValue(inner, rest.join("."), value);
  const { [key]: _, ...others } = values;
  const isEmpty = next === undefined || (rest.length > 0 && Object.keys(next as object).length === 0);
  return isEmpty ? others : { ...others, [key]: next };
}
