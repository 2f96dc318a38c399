import { describe, expect, it } from "vitest";
import { labelOf, sentence, sentenceWithLabel } from "./sentences";

describe("what the API says about a field", () => {
  it.each([
    ["Field required", "Name is needed."],
    ["String should have at least 1 character", "Name is needed."],
    ["List should have at least 1 item after validation, not 0", "Name is needed."],
    ["String should have at least 8 characters", "Name should have at least 8 characters."],
    ["List should have at most 5 items after validation, not 6", "Name should have at most 5 items."],
    ["String should match pattern '^[a-z]+$'", "Name is not written in a way that can be used here."],
    ["Input should be a valid integer, unable to parse string as an integer", "Name should be a whole number."],
    ["Input should be less than or equal to 2", "Name should be less than or equal to 2."],
    [
      "value is not a valid email address: An email address must have an @-sign.",
      "An email address must have an @-sign.",
    ],
    ["Value error, not E.164.", "Not E.164."],
    ["That name is taken.", "That name is taken."],
  ])("%s", (said, shown) => {
    expect(sentence("Name", said)).toBe(shown);
  });

  it("names the field where none stands beside it, once", () => {
    expect(sentenceWithLabel("Name", "Field required")).toBe("Name is needed.");
    expect(sentenceWithLabel("Role", "no such role")).toBe("Role: No such role.");
    expect(sentenceWithLabel("", "something is off")).toBe("Something is off.");
  });

  it("calls a field as the page does", () => {
    expect([
      labelOf("url"),
      labelOf("definition.config.timeout_ms"),
      labelOf("headers.0.key"),
      labelOf("first_name"),
      labelOf("numbers.3"),
      labelOf(""),
    ]).toEqual(["Address", "Longest wait", "Key", "First name", "Numbers", ""]);
  });
});
