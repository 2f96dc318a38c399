import { expect, it } from "vitest";
import { outcomeBadgeColor, resultColors, SERIES, seriesColor } from "./colors";

it("gives each series a color of its own, however many there are", () => {
  const colors = Array.from({ length: 40 }, (_, index) => seriesColor(index));
  expect(colors.slice(0, SERIES.length)).toEqual(SERIES);
  expect(new Set(colors).size).toBe(40);
});

it("colors a result by its name, wherever it stands in a list", () => {
  const [one, other] = [
    resultColors(["Sold", "Booked", "Declined"]),
    resultColors(["Declined", "Sold", "Sold", "Booked"]),
  ];
  for (const name of ["Booked", "Declined", "Sold"]) expect(other(name)).toBe(one(name));
  expect(new Set(["Booked", "Declined", "Sold", "Unknown"].map(one)).size).toBe(4);
});

it("gives badges of the same outcome the same color in every list", () => {
  expect(["transferred", "busy", "no_answer", "do_not_call"].map(outcomeBadgeColor)).toEqual([
    "blue",
    "yellow",
    "yellow",
    "gray",
  ]);
});
