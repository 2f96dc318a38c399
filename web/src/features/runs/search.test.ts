import { expect, it } from "vitest";
import { criteriaOf, readRunSearch } from "./search";

it("keeps what an address says and can be used", () => {
  expect(readRunSearch({ page: 2, sort: "duration", order: "asc", agent: 7, outcome: ["busy", 3], from: "2026-01-31", phone: 1201 })).toEqual({
    page: 2,
    sort: "duration",
    order: "asc",
    agent: 7,
    outcome: ["busy"],
    from: "2026-01-31",
    phone: "1201",
  });
  expect(readRunSearch({ page: -1, sort: "name", order: "up", agent: "x", outcome: [], from: "soon", min: -3, phone: "" })).toEqual({});
});

it("asks the API for all of it", () => {
  expect(criteriaOf({})).toEqual([]);
  expect(criteriaOf({ agent: 7, outcome: ["busy"], from: "2026-01-01", min: 10, variable: "city", contains: "par", page: 3 })).toEqual([
    { field: "workflow_id", type: "select", value: 7 },
    { field: "outcome", type: "select", value: ["busy"] },
    { field: "created_at", type: "date", value: { from: "2026-01-01" } },
    { field: "duration", type: "number", value: { min: 10 } },
    { field: "gathered.city", type: "text", value: "par" },
  ]);
  expect(criteriaOf({ variable: "context.plan", contains: "pro" })).toEqual([{ field: "context.plan", type: "text", value: "pro" }]);
  expect(criteriaOf({ variable: "city" })).toEqual([]);
});
