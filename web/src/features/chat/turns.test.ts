import { describe, expect, it } from "vitest";
import { shownTurns, routeOf } from "./turns";

const said = (text: string) => ({ text, created_at: "2026-01-01T00:00:00Z" });
const turn = (
  id: string,
  caller: string | null,
  agent: string,
  nodeId: string,
): Parameters<typeof shownTurns>[0][number] => ({
  id,
  status: "completed",
  user_message: caller === null ? null : said(caller),
  assistant_message: said(agent),
  messages: [
    ...(caller === null ? [] : [{ role: "caller" as const, ...said(caller) }]),
    { role: "agent" as const, ...said(agent) },
  ],
  node_id: nodeId,
  variables: {},
  created_at: "2026-01-01T00:00:00Z",
});
const turns = [
  turn("1", null, "Hello.", "start"),
  turn("2", "A day, please", "Which one?", "day"),
  turn("3", "Monday", "Bye.", "end"),
];

describe("a chat", () => {
  it("shows who said what, and where it could go back to", () => {
    const shown = shownTurns(turns, null);
    expect(shown.map((item) => [item.caller, item.agent, item.before])).toEqual([
      [null, ["Hello."], undefined],
      ["A day, please", ["Which one?"], "1"],
      ["Monday", ["Bye."], "2"],
    ]);
    expect(routeOf(shown)).toEqual({ nodeId: "end", visited: ["start", "day", "end"] });
  });

  it("leaves out what came after the point that it was taken back to", () => {
    const shown = shownTurns(turns, "1");
    expect(shown.map((item) => item.isBehind)).toEqual([false, true, true]);
    expect(routeOf(shown)).toEqual({ nodeId: "start", visited: ["start"] });
  });
});
