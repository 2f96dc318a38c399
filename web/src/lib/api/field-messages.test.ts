import { describe, expect, it } from "vitest";
import { fieldMessage, fieldMessageWithLabel, labelOf } from "./field-messages";

describe("what a refusal says about a field", () => {
  it.each([
    ["missing", "Field required", "Name is required."],
    ["string_too_short", "String should have at least 1 character", "Name is required."],
    ["too_short", "List should have at least 1 item after validation, not 0", "Name is required."],
    ["string_too_short", "String should have at least 8 characters", "Name must have at least 8 characters."],
    ["too_long", "List should have at most 5 items after validation, not 6", "Name must have at most 5 items."],
    ["string_too_long", "String should have at most 1 character", "Name must have at most 1 character."],
    ["string_pattern_mismatch", "String should match pattern '^[a-z]+$'", "Name has an invalid format."],
    ["int_parsing", "Input should be a valid integer, unable to parse string", "Name must be a whole number."],
    ["less_than_equal", "Input should be less than or equal to 2", "Name must be less than or equal to 2."],
    ["greater_than", "Input should be greater than 0.5", "Name must be greater than 0.5."],
    ["literal_error", "Input should be 'a', 'b' or 'c'", "Name must be a, b, or c."],
    ["enum", "no such role", "Name is not recognized."],
    ["extra_forbidden", "Extra inputs are not permitted", "Name is not recognized."],
    [
      "value_error",
      "value is not a valid email address: An email address must have an @-sign.",
      "An email address must have an @-sign.",
    ],
    ["value_error", "Value error, not E.164.", "Not E.164."],
    ["", "That name is taken.", "That name is taken."],
  ])("%s: %s", (type, message, shown) => {
    expect(fieldMessage("Name", { type, message })).toBe(shown);
  });

  it("does not depend on how the error is worded", () => {
    expect(fieldMessage("Name", { type: "missing", message: "Ce champ est requis" })).toBe("Name is required.");
  });

  it("names the field where none stands beside it, once", () => {
    expect(fieldMessageWithLabel("Name", { type: "missing", message: "Field required" })).toBe("Name is required.");
    expect(fieldMessageWithLabel("Role", { type: "", message: "no such role" })).toBe("Role: No such role.");
    expect(fieldMessageWithLabel("", { type: "", message: "something is off" })).toBe("Something is off.");
  });

  it("calls a field as its form does, by its name or its whole path, else by its name", () => {
    const labels = { url: "URL", numbers: "Numbers", "config.url": "Server" };
    expect([
      labelOf("hooks.0.url", labels),
      labelOf("config.url", labels),
      labelOf("numbers.3", labels),
      labelOf("headers.0.key", labels),
      labelOf("first_name"),
      labelOf(""),
    ]).toEqual(["URL", "Server", "Numbers", "Key", "First name", ""]);
  });
});
