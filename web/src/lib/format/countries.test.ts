import { expect, it } from "vitest";
import { countryChoices } from "./countries";

it("names every country once, in the order of names", () => {
  const choices = countryChoices();
  expect(new Set(choices.map(({ value }) => value)).size).toBe(choices.length);
  expect(choices).toContainEqual({ value: "US", label: "United States (US)" });
  expect(choices[0]?.label).toBe("Afghanistan (AF)");
});
