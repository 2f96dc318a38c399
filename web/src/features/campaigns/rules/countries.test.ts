import { expect, it } from "vitest";
import { countryChoices, countryName } from "./countries";

it("knows countries by name, each once", () => {
  const choices = countryChoices();
  expect(choices.length).toBeGreaterThan(220);
  expect(new Set(choices.map(({ label }) => label)).size).toBe(choices.length);
  expect(choices).toContainEqual({ value: "NO", label: "Norway" });
  expect([countryName("US"), countryName("QQ"), countryName("Norway")]).toEqual(["United States", "QQ", "Norway"]);
});
