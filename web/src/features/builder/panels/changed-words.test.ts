import { describe, expect, it } from "vitest";
import { findChangedWords } from "./changed-words";

const PROMPT = "You have greeted the caller. Find out what they want: a table, or the opening hours.";

describe("changed words of a text", () => {
  it("finds what was added at the end", () => {
    expect(findChangedWords(PROMPT, `${PROMPT} Be brief.`)).toEqual({
      head: `${PROMPT} `,
      before: "",
      after: "Be brief.",
      tail: "",
    });
  });

  it("finds what was replaced in the middle", () => {
    expect(findChangedWords(PROMPT, PROMPT.replace("a table", "two tables"))).toMatchObject({
      before: "a table, ",
      after: "two tables, ",
      tail: "or the opening hours.",
    });
  });

  it("leaves short texts and other texts alone", () => {
    expect(findChangedWords("Ask for a day.", "Ask for a time.")).toBeNull();
    expect(findChangedWords(PROMPT, PROMPT.split("").reverse().join(""))).toBeNull();
  });
});
