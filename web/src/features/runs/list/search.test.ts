import { expect, it } from "vitest";
import { countFilters, criteriaOf, listTitle, readRunSearch, toList, withoutFilters } from "./search";

it("keeps what an address says and can be used", () => {
  expect(
    readRunSearch({
      page: 2,
      sort: "duration",
      order: "asc",
      agent: 7,
      outcome: ["busy", 3],
      from: "2026-01-31",
      phone: 1201,
      campaign: [3, "x"],
    }),
  ).toEqual({
    page: 2,
    sort: "duration",
    order: "asc",
    agent: 7,
    outcome: ["busy"],
    from: "2026-01-31",
    phone: "1201",
    campaign: [3],
  });
  expect(
    readRunSearch({
      page: -1,
      sort: "name",
      order: "up",
      agent: "x",
      outcome: [],
      from: "2026-99-99",
      min: -3,
      phone: "",
      values: [{ name: "city", way: "is" }, 3],
    }),
  ).toEqual({});
});

it("asks the API for all of it", () => {
  expect(criteriaOf({})).toEqual([]);
  expect(criteriaOf({ run: 9, agent: [7, 8], outcome: ["busy"], caller: "120", min: 10, page: 3 })).toEqual([
    { field: "id", type: "select", value: 9 },
    { field: "workflow_id", type: "select", value: [7, 8] },
    { field: "outcome", type: "select", value: ["busy"] },
    { field: "caller_number", type: "text", value: "120" },
    { field: "duration", type: "number", value: { min: 10 } },
  ]);
  expect(toList(7)).toEqual(["7"]);
});

it("means days by the reader's clock", () => {
  const [criterion] = criteriaOf({ from: "2026-01-01", to: "2026-01-02" });
  const { from, to } = criterion?.value as { from: string; to: string };
  expect(new Date(from)).toEqual(new Date(2026, 0, 1));
  expect(new Date(to)).toEqual(new Date(new Date(2026, 0, 3).getTime() - 1));
});

it("asks for values in every way that the API knows", () => {
  const values = [
    { name: "gathered.city", way: "contains", text: "par" },
    { name: "context.plan", way: "is", text: "pro, team " },
    { name: "gathered.age", way: "number", from: "18", to: "x" },
    { name: "context.since", way: "date", to: "2026-01-01" },
    { name: "gathered.is_new", way: "no" },
  ];
  const search = readRunSearch({
    values: [...values, { name: "gathered.", way: "is", text: "x" }, { name: "gathered.half", way: "is" }],
  });
  expect(criteriaOf(search)).toEqual([
    { field: "gathered.city", type: "text", value: "par" },
    { field: "context.plan", type: "select", value: ["pro", "team"] },
    { field: "gathered.age", type: "number", value: { min: 18 } },
    { field: "context.since", type: "date", value: { to: "2026-01-01" } },
    { field: "gathered.is_new", type: "boolean", value: false },
  ]);
  expect(countFilters(search)).toBe(5);
});

it("says that filters are on, and takes them off without losing the order", () => {
  expect(listTitle({ page: 2, sort: "duration" })).toBe("All runs");
  expect(listTitle({ words: "refund" })).toBe("Runs · 1 filter");
  expect(listTitle({ words: "refund", outcome: ["busy"] })).toBe("Runs · 2 filters");
  expect(withoutFilters({ words: "refund", page: 2, sort: "duration", order: "asc" })).toEqual({
    sort: "duration",
    order: "asc",
  });
});
