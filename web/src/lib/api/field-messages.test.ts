import { describe, expect, it } from "vitest";
import { fieldMessage, fieldMessageWithLabel, labelOf } from "./field-messages";

describe("what a refusal says about a field", () => {
  it.each([
    ["missing", undefined, "Name is required."],
    ["string_too_short", 1, "Name is required."],
    ["too_short", 1, "Name is required."],
    ["string_too_short", 8, "Name must have at least 8 characters."],
    ["too_long", 5, "Name must have at most 5 items."],
    ["string_too_long", 1, "Name must have at most 1 character."],
    ["string_pattern_mismatch", undefined, "The format of Name is not valid."],
    ["int_parsing", undefined, "Name must be a whole number."],
    ["less_than_equal", 2, "Name must be less than or equal to 2."],
    ["greater_than", 0.5, "Name must be greater than 0.5."],
    ["greater_than", undefined, "Name is out of range."],
    ["literal_error", undefined, "Name is not one of the choices."],
    ["enum", undefined, "Name is not one of the choices."],
    ["extra_forbidden", undefined, "Name is not recognized."],
  ])("%s, limit %s: %s", (type, limit, shown) => {
    const prose = "Input should be 7, as a library puts it";
    expect(fieldMessage("Name", { type, message: prose, ...(limit === undefined ? {} : { limit }) })).toBe(shown);
  });

  it.each([
    [
      "value_error",
      "value is not a valid email address: An email address must have an @-sign.",
      "An email address must have an @-sign.",
    ],
    [
      "value_error",
      "Value error, not a valid email address: An email address must have an @-sign.",
      "An email address must have an @-sign.",
    ],
    ["value_error", "Value error, not E.164.", "Not E.164."],
    ["", "That name is taken.", "That name is taken."],
  ])("%s: %s", (type, message, shown) => {
    expect(fieldMessage("Name", { type, message })).toBe(shown);
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
