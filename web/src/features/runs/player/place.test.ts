import { expect, test } from "vitest";
import { placeIn, readPlace } from "./place";

test("a place in a recording goes into an address and comes back", () => {
  expect(readPlace({ at: Number(placeIn(42.9).replace("?at=", "")) })).toEqual({ at: 42 });
  expect([{}, { at: -1 }, { at: "soon" }, { at: 1.5 }, { at: Infinity }].map(readPlace)).toEqual([{}, {}, {}, {}, {}]);
});
