/** What the list of runs shows, as it stands in the page's address: pure, in and out. */

export const SORTS = ["created_at", "duration", "id"] as const;

export interface RunSearch {
  page?: number;
  sort?: (typeof SORTS)[number];
  order?: "asc" | "desc";
  agent?: number;
  outcome?: string[];
  status?: string[];
  mode?: string[];
  direction?: string;
  phone?: string;
  /** Days, both whole. */
  from?: string;
  to?: string;
  /** Seconds. */
  min?: number;
  max?: number;
  campaign?: number;
  call?: string;
  /** A name among what was given (`context.x`) or learned (`gathered.x`), and a part of its value. */
  variable?: string;
  contains?: string;
}

export interface Criterion {
  field: string;
  type: "number" | "text" | "select" | "date";
  value: unknown;
}

const positive = (value: unknown) => (typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined);
const seconds = (value: unknown) => (typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined);
const word = (value: unknown) =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" && Number.isFinite(value) ? String(value) : undefined;
const words = (value: unknown) => {
  const list = Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
  return list.length > 0 ? list : undefined;
};
const day = (value: unknown) => (typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) ? value : undefined);

/** Keeps what can be used of an address that anybody may have typed. */
export function readRunSearch(raw: Record<string, unknown>): RunSearch {
  const read = {
    page: positive(raw["page"]),
    sort: SORTS.find((sort) => sort === raw["sort"]),
    order: raw["order"] === "asc" ? "asc" : undefined,
    agent: positive(raw["agent"]),
    outcome: words(raw["outcome"]),
    status: words(raw["status"]),
    mode: words(raw["mode"]),
    direction: word(raw["direction"]),
    phone: word(raw["phone"]),
    from: day(raw["from"]),
    to: day(raw["to"]),
    min: seconds(raw["min"]),
    max: seconds(raw["max"]),
    campaign: positive(raw["campaign"]),
    call: word(raw["call"]),
    variable: word(raw["variable"]),
    contains: word(raw["contains"]),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)) as RunSearch;
}

/** The criteria of the API, which it combines with "and". */
export function criteriaOf(search: RunSearch): Criterion[] {
  const { from, to, min, max, variable, contains } = search;
  const found: (Criterion | null)[] = [
    select("workflow_id", search.agent),
    select("outcome", search.outcome),
    select("status", search.status),
    select("mode", search.mode),
    select("direction", search.direction),
    search.phone === undefined ? null : { field: "phone_number", type: "text", value: search.phone },
    from === undefined && to === undefined ? null : { field: "created_at", type: "date", value: { ...(from ? { from } : {}), ...(to ? { to } : {}) } },
    min === undefined && max === undefined
      ? null
      : { field: "duration", type: "number", value: { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) } },
    select("campaign_id", search.campaign),
    search.call === undefined ? null : { field: "call_id", type: "text", value: search.call },
    variable === undefined || contains === undefined ? null : { field: named(variable), type: "text", value: contains },
  ];
  return found.filter((criterion) => criterion !== null);
}

/** How many filters are set, whatever the page and the order. */
export function countFilters(search: RunSearch): number {
  return criteriaOf(search).length;
}

function select(field: string, value: unknown): Criterion | null {
  return value === undefined ? null : { field, type: "select", value };
}

/** A plain name is one that was learned. */
function named(variable: string): string {
  return /^(context|gathered)\../.test(variable) ? variable : `gathered.${variable}`;
}
