import { expect, it } from "vitest";
import { matchSilences } from "./answer-times";
import { conversationTurns } from "./turns";

/** A caller who stops at `stopped` and is sent the first frame of the answer at `sent`, in seconds. */
function turn(stopped: number, sent: number) {
  return [
    { type: "caller_said", at_ms: stopped * 1000, data: { text: "Yes", start_s: stopped - 1, end_s: stopped } },
    { type: "turn_timed", at_ms: sent * 1000, data: { caller_stopped: stopped, first_frame: sent } },
  ];
}

function heard(stopped: number, audible: number) {
  return { caller_stopped_s: stopped, agent_audible_s: audible, silence_ms: Math.round((audible - stopped) * 1000) };
}

it("finds the silence that the first frame of an answer fell in, or ended", () => {
  const turns = conversationTurns([...turn(2, 2.7), ...turn(6, 6.5)]);
  expect([...matchSilences(turns, [heard(1.9, 3.1), heard(6, 6.45)])]).toEqual([
    [1, 1200],
    [2, 450],
  ]);
});

it("leaves out turns that nothing was measured for", () => {
  const turns = conversationTurns([...turn(2, 2.7), ...turn(6, 6.5)]);
  expect([...matchSilences(turns, [heard(6, 6.6)])]).toEqual([[2, 600]]);
  expect([...matchSilences(turns, [heard(3.2, 5.9)])]).toEqual([]);
  expect(matchSilences(conversationTurns(turn(2, 2.7).slice(0, 1)), [heard(2, 2.7)]).size).toBe(0);
});

it("gives a silence to one turn only, the nearest of two to each", () => {
  const turns = conversationTurns([...turn(2, 2.2), ...turn(2.3, 2.4)]);
  expect([...matchSilences(turns, [heard(1.9, 2.2), heard(2.25, 2.5)])]).toEqual([
    [1, 300],
    [2, 250],
  ]);
  expect([...matchSilences(turns, [heard(1.9, 2.2)])]).toEqual([[1, 300]]);
});

it("finds the silence before an answer whose times are stored with its words", () => {
  const stored = [
    { type: "caller_said", at_ms: 2000, data: { text: "Yes", start_s: 1, end_s: 2 } },
    { type: "agent_said", at_ms: 9000, data: { text: "Fine.", timing: { caller_stopped: 2, first_frame: 2.7 } } },
  ];
  expect([...matchSilences(conversationTurns(stored), [heard(1.9, 3.1)])]).toEqual([[1, 1200]]);
});
