import { describe, expect, it } from "vitest";
import { startHistory, pushChange, mapHistory, redo, undo } from "./history";

describe("the history", () => {
  it("goes back and forward, and a new change ends the way forward", () => {
    let history = pushChange(pushChange(startHistory("a"), "b"), "c");
    history = undo(history);
    expect(history.present).toBe("b");
    expect(redo(history).present).toBe("c");
    expect(redo(pushChange(history, "d")).present).toBe("d");
    expect(undo(startHistory("a")).present).toBe("a");
  });

  it("takes typing in one field as one change, until a pause or another field", () => {
    const typed = [
      ["ab", "name", 100],
      ["abc", "name", 200],
      ["abcd", "name", 5_000],
      ["x", "prompt", 5_100],
    ] as const;
    let history = startHistory("a");
    for (const [value, tag, at] of typed) history = pushChange(history, value, tag, at);
    expect(history.past).toEqual(["a", "abc", "abcd"]);
  });

  it("does not join a change to one that was undone", () => {
    const history = pushChange(undo(pushChange(startHistory("a"), "ab", "name", 1)), "ac", "name", 2);
    expect(history.past).toEqual(["a"]);
  });

  it("knows no change that changes nothing, and takes what nobody did everywhere", () => {
    const history = pushChange(startHistory("a"), "b");
    expect(pushChange(history, "b")).toBe(history);
    expect(undo(mapHistory(history, (value) => `${value}!`)).present).toBe("a!");
  });
});
