/** What the list of runs shows, as it stands in the page's address: pure, in and out. */

import { pluralize } from "../../../lib/format/format";
import { type Criterion, criterionOf, readValues, type ValueFilter } from "./values";

/** The API takes no longer ones. */
export const MAX_WORDS = 200;

export const SORTS = ["created_at", "duration", "id"] as const;

export interface RunSearch {
  /** Words in the transcript. */
  words?: string;
  page?: number;
  sort?: (typeof SORTS)[number];
  order?: "asc" | "desc";
  agent?: number | number[];
  outcome?: string[];
  status?: string[];
  /** What calls came to, by their agents' definitions. */
  result?: string[];
  success?: "yes" | "no";
  tag?: string[];
  mode?: string[];
  direction?: string;
  phone?: string;
  caller?: string;
  called?: string;
  /** Days by the reader's clock, both whole. */
  from?: string;
  to?: string;
  /** Seconds. */
  min?: number;
  max?: number;
  campaign?: number | number[];
  call?: string;
  /** The number of a run, as in its address. */
  run?: number;
  values?: ValueFilter[];
}

const positive = (value: unknown) =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
const positives = (value: unknown) => {
  if (!Array.isArray(value)) return positive(value);
  const list = value.filter((item): item is number => positive(item) !== undefined);
  return list.length > 0 ? list : undefined;
};
const seconds = (value: unknown) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
const word = (value: unknown) =>
  typeof value === "string" && value !== ""
    ? value
    : typeof value === "number" && Number.isFinite(value)
      ? String(value)
      : undefined;
const words = (value: unknown) => {
  const list = Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
  return list.length > 0 ? list : undefined;
};
const day = (value: unknown) =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;

/** Keeps what can be used of an address that anybody may have typed. */
export function readRunSearch(raw: Record<string, unknown>): RunSearch {
  const read = {
    words: word(raw["words"])?.slice(0, MAX_WORDS),
    page: positive(raw["page"]),
    sort: SORTS.find((sort) => sort === raw["sort"]),
    order: raw["order"] === "asc" ? "asc" : undefined,
    agent: positives(raw["agent"]),
    outcome: words(raw["outcome"]),
    status: words(raw["status"]),
    result: words(raw["result"]),
    success: raw["success"] === "yes" || raw["success"] === "no" ? raw["success"] : undefined,
    tag: words(raw["tag"]),
    mode: words(raw["mode"]),
    direction: word(raw["direction"]),
    phone: word(raw["phone"]),
    caller: word(raw["caller"]),
    called: word(raw["called"]),
    from: day(raw["from"]),
    to: day(raw["to"]),
    min: seconds(raw["min"]),
    max: seconds(raw["max"]),
    campaign: positives(raw["campaign"]),
    call: word(raw["call"]),
    run: positive(raw["run"]),
    values: readValues(raw["values"]),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

/** The criteria of the API, which it combines with "and". */
export function criteriaOf(search: RunSearch): Criterion[] {
  const { from, to, min, max } = search;
  const found: (Criterion | null)[] = [
    select("id", search.run),
    select("workflow_id", search.agent),
    select("outcome", search.outcome),
    select("status", search.status),
    select("result", search.result),
    search.success === undefined ? null : { field: "is_success", type: "boolean", value: search.success === "yes" },
    select("tags", search.tag),
    select("mode", search.mode),
    select("direction", search.direction),
    text("phone_number", search.phone),
    text("caller_number", search.caller),
    text("called_number", search.called),
    from === undefined && to === undefined
      ? null
      : {
          field: "created_at",
          type: "date",
          value: {
            ...(from ? { from: moment(`${from}T00:00:00`) } : {}),
            ...(to ? { to: moment(`${to}T23:59:59.999`) } : {}),
          },
        },
    min === undefined && max === undefined
      ? null
      : {
          field: "duration",
          type: "number",
          value: { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) },
        },
    select("campaign_id", search.campaign),
    text("call_id", search.call),
    ...(search.values ?? []).map(criterionOf),
  ];
  return found.filter((criterion) => criterion !== null);
}

/** How many filters are set, whatever the page and the order. */
export function countFilters(search: RunSearch): number {
  return criteriaOf(search).length + (search.words === undefined ? 0 : 1);
}

/** Every run, in the same order. */
export function withoutFilters({ sort, order }: RunSearch): RunSearch {
  return { ...(sort === undefined ? {} : { sort }), ...(order === undefined ? {} : { order }) };
}

/** What a list with these filters is called. */
export function listTitle(search: RunSearch): string {
  const count = countFilters(search);
  return count === 0 ? "All runs" : `Runs · ${pluralize(count, "filter")}`;
}

/** Agents or campaigns as several, however the address has them. */
export function toList(ids: number | number[] | undefined): string[] {
  return (ids === undefined ? [] : Array.isArray(ids) ? ids : [ids]).map(String);
}

function select(field: string, value: unknown): Criterion | null {
  return value === undefined ? null : { field, type: "select", value };
}

function text(field: string, value: string | undefined): Criterion | null {
  return value === undefined ? null : { field, type: "text", value };
}

/** A time without a zone is the reader's. */
function moment(local: string): string {
  return new Date(local).toISOString();
}
