import { expect, it } from "vitest";
import { SERIES, seriesColor } from "./colors";

it("gives each series a color of its own, however many there are", () => {
  const colors = Array.from({ length: 40 }, (_, index) => seriesColor(index));
  expect(colors.slice(0, SERIES.length)).toEqual(SERIES);
  expect(new Set(colors).size).toBe(40);
});
