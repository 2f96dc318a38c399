import { expect, it } from "vitest";
import { markedWords } from "./marked-words";

it("leaves out what stands in every question", () => {
  expect(markedWords("Are you open on Saturdays, or Sundays?")).toEqual(["open", "saturdays", "sundays"]);
  expect(markedWords("What is it?")).toEqual([]);
  expect(markedWords("Kosten für Zahnärzte: kosten?")).toEqual(["kosten", "für", "zahnärzte"]);
});
