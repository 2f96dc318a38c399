import { expect, it } from "vitest";
import { findOpenView, searchOf, searchToSave } from "./view-search";

it("keeps filters and order, and leaves the page out", () => {
  expect(searchToSave({ result: ["Booked"], sort: "duration", page: 3 })).toEqual({
    result: ["Booked"],
    sort: "duration",
  });
});

it("reads what can be used of a stored view", () => {
  expect(searchOf({ search: { result: ["Booked"], page: 2, min: "x", unknown: 1 } })).toEqual({ result: ["Booked"] });
});

it("knows the open view, whatever the order of its parts", () => {
  const views = [
    { id: 1, search: { success: "no" } },
    { id: 2, search: { to: "2026-11-02", from: "2026-11-01" } },
  ];
  expect(findOpenView(views, { from: "2026-11-01", to: "2026-11-02", page: 2 })?.id).toBe(2);
  expect(findOpenView(views, { from: "2026-11-01" })).toBeUndefined();
  expect(findOpenView([{ id: 3, search: {} }], {})).toBeUndefined();
});
