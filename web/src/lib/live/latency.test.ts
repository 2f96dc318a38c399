import { describe, expect, it } from "vitest";
import { addTurn, percentile, turnsOf } from "./latency";

const timed = (data: Record<string, number>) => ({ type: "turn_timed", at_ms: 5000, data });
const full = {
  caller_stopped: 1,
  turn_decided: 1.5,
  first_token: 1.62,
  first_sentence: 1.8,
  first_byte: 1.88,
  first_frame: 1.9,
  response_ms: 900,
};

describe("the latency of a turn", () => {
  it("is split into the steps that the caller waited for", () => {
    const [turn] = turnsOf([timed(full)]);
    expect(turn?.responseMs).toBe(900);
    expect(turn?.parts).toEqual([
      { key: "endpoint", ms: 500 },
      { key: "model", ms: 120 },
      { key: "sentence", ms: 180 },
      { key: "voice", ms: 80 },
      { key: "playout", ms: 20 },
    ]);
  });

  it("counts a step without a stamp to the next one, so that the parts still add up", () => {
    const [turn] = turnsOf([timed({ caller_stopped: 1, turn_decided: 1.5, first_byte: 1.7, first_frame: 1.75 })]);
    expect(turn?.parts.map((part) => part.key)).toEqual(["endpoint", "voice", "playout"]);
    expect(turn?.parts.reduce((sum, part) => sum + part.ms, 0)).toBe(750);
    expect(turn?.responseMs).toBe(750);
  });

  it("never shows a negative step when a model began before the turn was decided", () => {
    const [turn] = turnsOf([timed({ ...full, first_token: 1.4 })]);
    expect(turn?.parts.every((part) => part.ms >= 0)).toBe(true);
    expect(turn?.parts.reduce((sum, part) => sum + part.ms, 0)).toBe(900);
  });

  it("leaves out the greeting, which answers nobody, and other events", () => {
    expect(turnsOf([timed({ first_frame: 0.3 }), { type: "agent_said", at_ms: 0, data: {} }])).toEqual([]);
  });

  it("is the same from the words that it is stored with, at its first frame", () => {
    const said = { type: "agent_said", at_ms: 7000, data: { text: "Sure.", timing: full } };
    const [stored] = turnsOf([said]);
    expect(stored).toEqual({ ...turnsOf([timed(full)])[0], atMs: 1900 });
    expect(turnsOf([{ ...said, data: { text: "Sure.", timing: null } }])).toEqual([]);
  });

  it("is counted once when it was told live and is stored afterwards", () => {
    const live = turnsOf([timed(full)]);
    const said = { type: "agent_said", at_ms: 7000, data: { text: "Sure.", timing: full } };
    const unheard = { type: "turn_timed", at_ms: 7000, data: { ...full, unheard: true } };
    expect(addTurn(live, said)).toEqual(live);
    expect(addTurn(live, unheard)).toEqual(live);
    expect(turnsOf([unheard]).map((turn) => turn.responseMs)).toEqual([900]);
    const next = { ...full, caller_stopped: 8, first_frame: 9, response_ms: 1000 };
    expect(addTurn(live, { ...said, data: { text: "Yes.", timing: next } })).toHaveLength(2);
  });

  it("numbers turns and has percentiles by nearest rank", () => {
    const turns = turnsOf([300, 100, 200, 1000].map((ms) => timed({ ...full, response_ms: ms })));
    expect(turns.map((turn) => turn.index)).toEqual([1, 2, 3, 4]);
    expect(percentile(turns, 0.5)).toBe(200);
    expect(percentile(turns, 0.95)).toBe(1000);
    expect(percentile([], 0.5)).toBeNull();
  });
});
