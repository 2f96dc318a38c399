import { expect, it } from "vitest";
import { countryChoices, countryName } from "./countries";

it("names every country once, in the order of names", () => {
  const choices = countryChoices();
  expect(new Set(choices.map(({ value }) => value)).size).toBe(choices.length);
  expect(choices).toContainEqual({ value: "US", label: "United States (US)" });
  expect(choices[0]?.label).toBe("Afghanistan (AF)");
  expect(choices.length).toBeGreaterThan(240);
  expect(new Set(choices.map(({ label }) => label.replace(/ \(..\)$/, ""))).size).toBe(choices.length);
  expect([countryName("US"), countryName("QQ"), countryName("Norway")]).toEqual(["United States", "QQ", "Norway"]);
});
