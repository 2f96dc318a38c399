/** What a refusal says about one field, as a sentence that names the field as the page does. */

import { humanize } from "../format/format";

/** What is wrong with one field of a request: `path` as in the body, `calling_hours.slots.0.end`. */
export interface FieldProblem {
  path: string;
  /** The kind of error, such as `missing`; "" where the API wrote the sentence itself. */
  type: string;
  message: string;
  /** The limit that the value is past, where there is one. */
  limit?: number;
}

/** What a refusal says apart from where it says it. */
type Refusal = Omit<FieldProblem, "path">;

/** What a form calls its fields, by the last name of their path, where that is not simply the name. */
export type FieldLabels = Readonly<Partial<Record<string, string>>>;

/** The label of a field, by the last name of its path: `headers.0.phone_number` is "Phone number" or the form's own. */
export function labelOf(path: string, labels: FieldLabels = {}): string {
  const name = path.split(".").findLast((part) => !/^\d+$/.test(part)) ?? "";
  return labels[path] ?? labels[name] ?? humanize(name);
}

type Rule = (label: string, limit: number | undefined) => string;

const needed: Rule = (label) => `${label} is required`;
const shouldBe =
  (what: string): Rule =>
  (label) =>
    `${label} must be ${what}`;
const atLeast =
  (unit: string): Rule =>
  (label, limit) => {
    if (limit === undefined) return `${label} is too short`;
    return limit === 1 ? needed(label, limit) : `${label} must have at least ${limit} ${unit}s`;
  };
const atMost =
  (unit: string): Rule =>
  (label, limit) =>
    limit === undefined
      ? `${label} is too long`
      : `${label} must have at most ${limit} ${unit}${limit === 1 ? "" : "s"}`;
const compared =
  (relation: string): Rule =>
  (label, limit) =>
    limit === undefined ? `${label} is out of range` : `${label} must be ${relation} ${limit}`;
const oneOf: Rule = (label) => `${label} is not one of the choices`;
const unusable: Rule = (label) => `The format of ${label} is not valid`;

const RULES: Partial<Record<string, Rule>> = {
  missing: needed,
  extra_forbidden: (label) => `${label} is not recognized`,
  string_too_short: atLeast("character"),
  string_too_long: atMost("character"),
  too_short: atLeast("item"),
  too_long: atMost("item"),
  string_pattern_mismatch: unusable,
  string_type: shouldBe("text"),
  string_unicode: unusable,
  int_type: shouldBe("a whole number"),
  int_parsing: shouldBe("a whole number"),
  int_from_float: shouldBe("a whole number"),
  float_type: shouldBe("a number"),
  float_parsing: shouldBe("a number"),
  finite_number: shouldBe("a number"),
  bool_type: shouldBe("yes or no"),
  bool_parsing: shouldBe("yes or no"),
  list_type: shouldBe("a list"),
  dict_type: shouldBe("an object"),
  model_type: shouldBe("an object"),
  model_attributes_type: shouldBe("an object"),
  greater_than: compared("greater than"),
  greater_than_equal: compared("greater than or equal to"),
  less_than: compared("less than"),
  less_than_equal: compared("less than or equal to"),
  literal_error: oneOf,
  enum: oneOf,
  union_tag_invalid: (label) => `${label} is not recognized`,
  union_tag_not_found: needed,
  date_type: shouldBe("a date"),
  date_parsing: shouldBe("a date"),
  date_from_datetime_parsing: shouldBe("a date"),
  time_type: shouldBe("a time"),
  time_parsing: shouldBe("a time"),
  datetime_type: shouldBe("a date and time"),
  datetime_parsing: shouldBe("a date and time"),
  datetime_from_date_parsing: shouldBe("a date and time"),
  timezone_aware: shouldBe("a date and time with its time zone"),
  url_parsing: shouldBe("a URL such as https://example.com"),
  url_scheme: shouldBe("a URL such as https://example.com"),
  url_type: shouldBe("a URL such as https://example.com"),
  uuid_parsing: unusable,
  uuid_type: unusable,
};

/** Chosen by the error's `type`. What the API wrote for people stays as it is. Always ends with a full stop. */
export function fieldMessage(label: string, { type, message, limit }: Refusal): string {
  const rule = RULES[type];
  if (rule !== undefined) return `${rule(label, limit)}.`;
  const plain = message.replace(/^(Value error, )?((value is )?not a valid email address: )?/, "").replace(/\.$/, "");
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}.`;
}

/** For where no field stands beside it: the label comes first, unless the sentence begins with it anyway. */
export function fieldMessageWithLabel(label: string, problem: Refusal): string {
  const whole = fieldMessage(label, problem);
  return label === "" || whole.toLowerCase().startsWith(label.toLowerCase()) ? whole : `${label}: ${whole}`;
}
