import { expect, it } from "vitest";
import { zoneChoices } from "./time-zones";

it("writes zones with spaces, as people search for them", () => {
  const choices = zoneChoices();
  expect(choices[0]).toEqual({ value: "UTC", label: "UTC" });
  expect(choices).toContainEqual({ value: "America/New_York", label: "America/New York" });
  expect(choices.filter(({ label }) => label.includes("_"))).toEqual([]);
});
