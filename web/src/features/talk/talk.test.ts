import { describe, expect, it } from "vitest";
import { type CallAction, IDLE, reduce } from "./call-state";
import { parseMessage } from "./wire";

const event = (type: string, data: Record<string, unknown> = {}): CallAction => ({
  type: "event",
  event: { type, at_ms: 0, data },
});
const after = (...actions: CallAction[]) => actions.reduce(reduce, IDLE);
const ended: CallAction = {
  type: "phase",
  phase: { name: "ended", status: "completed", outcome: "answered", endReason: "agent_ended" },
};
const failed: CallAction = {
  type: "phase",
  phase: { name: "failed", message: "The connection to the server was lost." },
};

describe("a browser call", () => {
  it("gathers conversation, current step and answer times while it is live", () => {
    const state = after(
      { type: "started" },
      { type: "run", runId: 7 },
      { type: "phase", phase: { name: "live" } },
      event("node_entered", { node_id: "s", name: "Welcome" }),
      event("agent_speaking", { text: "Hello." }),
      event("turn_timed", { caller_stopped: 1, first_frame: 1.4, response_ms: 400 }),
    );
    expect(state.phase.name).toBe("live");
    expect(state.runId).toBe(7);
    expect(state.transcript.nodeId).toBe("s");
    expect(state.turns.map((turn) => turn.responseMs)).toEqual([400]);
  });

  it("counts an answer once whose times come again with its words", () => {
    const times = { caller_stopped: 1, first_frame: 1.4, response_ms: 400 };
    const said = event("agent_said", { text: "Hello.", timing: times });
    expect(after({ type: "started" }, event("turn_timed", times), said).turns).toHaveLength(1);
    expect(after({ type: "started" }, said).turns.map((turn) => turn.responseMs)).toEqual([400]);
  });

  it("leaves nothing open when it ends, and no step lit", () => {
    const state = after(
      { type: "started" },
      event("node_entered", { node_id: "s", name: "Welcome" }),
      event("agent_speaking", { text: "Bye." }),
      ended,
    );
    expect(state.transcript.nodeId).toBeNull();
    expect(state.transcript.lines.at(-1)).toMatchObject({ text: "Bye.", state: "final" });
  });

  it("keeps the first word on how it ended: the socket that closes afterwards is no failure", () => {
    expect(after({ type: "started" }, ended, failed).phase).toMatchObject({ name: "ended", outcome: "answered" });
  });

  it("starts clean the next time", () => {
    expect(after({ type: "started" }, event("agent_said", { text: "Hello." }), ended, { type: "started" })).toEqual({
      ...IDLE,
      phase: { name: "asking" },
    });
  });
});

describe("a message of the media socket", () => {
  it("is read by its type", () => {
    expect(parseMessage('{"type":"clear"}')).toEqual({ type: "clear" });
    expect(parseMessage('{"type":"reconnect","token":"t"}')).toEqual({ type: "reconnect", token: "t" });
    expect(parseMessage('{"type":"mark","name":"s3"}')).toEqual({ type: "mark", name: "s3" });
    expect(parseMessage('{"type":"ended","status":"completed","outcome":null,"end_reason":"idle"}')).toEqual({
      type: "ended",
      status: "completed",
      outcome: null,
      endReason: "idle",
    });
    expect(parseMessage('{"type":"event","event":{"type":"caller_started","at_ms":12}}')).toEqual({
      type: "event",
      event: { type: "caller_started", at_ms: 12, data: {} },
    });
    expect(parseMessage('{"type":"error","code":"media_token_refused","detail":"Used already."}')).toMatchObject({
      detail: "Used already.",
    });
  });

  it.each(["", "nonsense", "[]", "null", "{}", '{"type":"event"}', '{"type":"event","event":{}}', '{"type":"new"}'])(
    "is ignored when it is %j",
    (raw) => {
      expect(parseMessage(raw)).toBeNull();
    },
  );
});
