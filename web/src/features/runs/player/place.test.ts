import { expect, test } from "vitest";
import { placeIn, placeOf, readPlace } from "./place";

test("a place in a recording goes into an address and comes back", () => {
  expect(readPlace({ at: Number(placeIn(42.9).replace("?at=", "")) })).toEqual({ at: 42 });
  expect(readPlace(JSON.parse(JSON.stringify(placeOf(1.512))) as Record<string, unknown>)).toEqual({ at: 1.512 });
  expect(readPlace({ listen: true })).toEqual({ listen: true });
  expect(readPlace({ listen: "loud", at: 3 })).toEqual({ at: 3 });
  expect([{}, { at: -1 }, { at: 0 }, { at: "soon" }, { at: Infinity }].map(readPlace)).toEqual([{}, {}, {}, {}, {}]);
});
