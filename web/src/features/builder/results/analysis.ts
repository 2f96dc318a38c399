/** What an agent counts as a result and as a success of a call, as its settings keep it: pure. */

export interface Rule {
  check: "variable" | "node" | "edge" | "end_reason";
  name: string;
  operator: "is" | "is_not" | "contains" | "is_set" | "is_not_set";
  values: string[];
}

/** A result has `is_success`; a criterion has none. */
export interface CallDefinition {
  name: string;
  description: string;
  match: "all" | "any";
  rules: Rule[];
  is_success: boolean | null;
}

export interface CallAnalysis {
  write_summary: boolean;
  results: CallDefinition[];
  criteria: CallDefinition[];
}

export type AnalysisList = "results" | "criteria";

export const MAX_RULES = 10;
export const MAX_ENTRIES: Record<AnalysisList, number> = { results: 12, criteria: 10 };
export const MAX_NAME: Record<AnalysisList, number> = { results: 40, criteria: 80 };

export const NO_RULE: Rule = { check: "variable", name: "", operator: "is", values: [] };
export const NEW_DEFINITION: CallDefinition = {
  name: "",
  description: "",
  match: "all",
  rules: [NO_RULE],
  is_success: null,
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const words = (value: unknown) => (typeof value === "string" ? value : "");
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export function readAnalysis(stored: unknown): CallAnalysis {
  const raw = isObject(stored) ? stored : {};
  return {
    write_summary: raw["write_summary"] === true,
    results: list(raw["results"]).filter(isObject).map(readDefinition),
    criteria: list(raw["criteria"]).filter(isObject).map(readDefinition),
  };
}

function readDefinition(raw: Record<string, unknown>): CallDefinition {
  return {
    name: words(raw["name"]),
    description: words(raw["description"]),
    match: raw["match"] === "any" ? "any" : "all",
    rules: list(raw["rules"])
      .filter(isObject)
      .map((rule) => ({
        check: rule["check"] as Rule["check"],
        name: words(rule["name"]),
        operator: (rule["operator"] ?? "is") as Rule["operator"],
        values: list(rule["values"]).map(String),
      })),
    is_success: typeof raw["is_success"] === "boolean" ? raw["is_success"] : null,
  };
}

/** As the API takes it; undefined when nothing is wanted. */
export function storedAnalysis(analysis: CallAnalysis): Record<string, unknown> | undefined {
  const { write_summary, results, criteria } = analysis;
  if (!write_summary && results.length + criteria.length === 0) return undefined;
  return {
    ...(write_summary ? { write_summary } : {}),
    ...(results.length > 0 ? { results: results.map((one) => storedDefinition(one, true)) } : {}),
    ...(criteria.length > 0 ? { criteria: criteria.map((one) => storedDefinition(one, false)) } : {}),
  };
}

function storedDefinition({ name, description, match, rules, is_success }: CallDefinition, isResult: boolean): object {
  return {
    name: name.trim(),
    ...(description.trim() === "" ? {} : { description: description.trim() }),
    ...(match === "any" ? { match } : {}),
    ...(rules.length > 0 ? { rules: rules.map(storedRule) } : {}),
    ...(isResult && is_success !== null ? { is_success } : {}),
  };
}

function storedRule({ check, name, operator, values }: Rule): object {
  return { check, name: name.trim(), operator, ...(needsValues({ check, operator }) ? { values } : {}) };
}

export function needsValues({ check, operator }: Pick<Rule, "check" | "operator">): boolean {
  return check === "variable" && operator !== "is_set" && operator !== "is_not_set";
}

/** Why it cannot be saved yet; null when it can. */
export function problemOf(definition: CallDefinition, others: readonly CallDefinition[]): string | null {
  const name = definition.name.trim().toLowerCase();
  if (name === "") return "Enter a name.";
  if (others.some((other) => other.name.trim().toLowerCase() === name)) return "This name is taken.";
  if (definition.rules.some((rule) => rule.name.trim() === "")) return "Complete or remove each rule.";
  if (definition.rules.some((rule) => needsValues(rule) && rule.values.length === 0))
    return "Enter a value for each rule.";
  if (definition.rules.length === 0 && definition.description.trim() === "")
    return "Add a rule, or describe it for the language model.";
  return null;
}

const OPERATORS = { is: "is", is_not: "is not", contains: "contains", is_set: "is set", is_not_set: "is not set" };

/** The rules as one line; `nameOf` gives steps and transitions the names that their author knows. */
export function describeRules({ rules, match, description }: CallDefinition, nameOf: (rule: Rule) => string): string {
  if (rules.length === 0) return description === "" ? "Decided by the language model" : description;
  return rules.map((rule) => describeRule(rule, nameOf(rule))).join(match === "all" ? " and " : " or ");
}

function describeRule(rule: Rule, name: string): string {
  const not = rule.operator === "is_not" ? "not " : "";
  if (rule.check === "node") return `${not}reached “${name}”`;
  if (rule.check === "edge") return `${not}took “${name}”`;
  if (rule.check === "end_reason") return `${not}ended: ${name.replaceAll("_", " ")}`;
  return `${name} ${OPERATORS[rule.operator]} ${needsValues(rule) ? rule.values.join(" or ") : ""}`.trim();
}
