/** Why a run ended, in one sentence, and what to do about it. Pure. */

import { formatClock } from "../../../lib/format/format";
import { type CallEvent, number, text } from "../../../lib/live/events";
import { servedBy } from "../../../lib/runs/model-names";
import { endReasonLabel, partyName } from "../../../lib/runs/run-labels";
import type { RunDetail } from "../../../lib/api/types";

/** Where an action leads: into the recording, to a step of the agent, or to a page. */
export type NextAction =
  | { kind: "hear"; label: string; seconds: number }
  | { kind: "step"; label: string; nodeId: string }
  | { kind: "models"; label: string }
  | { kind: "phone"; label: string }
  | { kind: "agent"; label: string };

export interface EndExplanation {
  sentence: string;
  /** The call did not go as it should. */
  isBad: boolean;
  actions: NextAction[];
}

type EndedRun = Pick<RunDetail, "end_reason" | "status" | "mode" | "direction" | "duration">;

interface Facts {
  run: EndedRun;
  events: readonly CallEvent[];
  step: { nodeId: string; name: string } | null;
  /** When the caller was first not understood, in seconds; null if that never happened. */
  firstMissS: number | null;
  misses: number;
  failure: CallEvent | undefined;
}

const LAST_WORDS_S = 10;

const MODELS: NextAction = { kind: "models", label: "Open model settings" };
const PHONE: NextAction = { kind: "phone", label: "Open carrier accounts" };
const AGENT: NextAction = { kind: "agent", label: "Open the agent" };

/** Null while the run is not over, or without a reason. */
export function explainEnd(run: EndedRun, events: readonly CallEvent[]): EndExplanation | null {
  if (run.end_reason === null || run.end_reason === "") return null;
  const facts = factsOf(run, events);
  const explain = REASONS[run.end_reason];
  if (explain !== undefined) return explain(facts);
  return {
    sentence:
      run.status === "failed"
        ? `The call could not be placed or was cut off: ${endReasonLabel(run.end_reason, run).toLowerCase()}.`
        : `The call ended: ${endReasonLabel(run.end_reason, run).toLowerCase()}.`,
    isBad: run.status === "failed",
    actions: run.status === "failed" ? [PHONE] : [],
  };
}

function factsOf(run: EndedRun, events: readonly CallEvent[]): Facts {
  const entered = events.findLast((event) => event.type === "node_entered");
  const misses = events.filter((event) => event.type === "caller_not_understood");
  const first = misses[0];
  return {
    run,
    events,
    step: entered === undefined ? null : { nodeId: text(entered, "node_id"), name: text(entered, "name") },
    firstMissS: first === undefined ? null : (number(first, "start_s") ?? first.at_ms / 1000),
    misses: misses.length,
    failure: events.findLast((event) => event.type === "model_failed"),
  };
}

const REASONS: Record<string, (facts: Facts) => EndExplanation> = {
  agent_ended: (facts) => fine(`The agent ended the conversation${during(facts)}.`, editStep(facts)),
  caller_hung_up: (facts) => fine(hungUp(facts), [...lastWords(facts), ...editStep(facts)]),
  transferred: () => fine("The agent transferred the call.", []),
  voicemail: (facts) => fine("A voicemail greeting answered the call.", lastWords(facts)),
  busy: () => fine("The line was busy.", []),
  no_answer: () => fine("No one answered.", []),
  canceled: () => fine("The call was canceled before anyone answered.", []),
  idle: (facts) =>
    facts.run.mode === "textchat"
      ? fine("The chat was closed because no message arrived for a long time.", [])
      : bad(`The ${partyName(facts.run)} was silent${during(facts)}, so the agent hung up.`, [
          ...lastWords(facts),
          ...editStep(facts),
        ]),
  not_understood: (facts) =>
    bad(`The agent did not understand the ${partyName(facts.run)}${times(facts.misses)}${during(facts)} and hung up.`, [
      ...firstMiss(facts),
      ...editStep(facts, "Add examples to"),
      { kind: "models", label: "Change speech recognition" },
    ]),
  max_duration: () => bad("The call reached its time limit.", [AGENT]),
  watchdog: (facts) =>
    bad(`The agent could not answer in time${because(facts)}, so it apologized and hung up.`, [
      ...lastWords(facts),
      MODELS,
    ]),
  error: (facts) =>
    facts.failure === undefined
      ? bad("The call failed because of an error on this server. The events below have the details.", lastWords(facts))
      : bad(`The call failed${because(facts)}.`, [...lastWords(facts), MODELS]),
  media_lost: (facts) =>
    bad(
      "The audio connection was lost.",
      facts.run.mode === "browser" ? lastWords(facts) : [...lastWords(facts), PHONE],
    ),
  media_never_came: () => bad("The call was answered, but the carrier never sent its audio to this server.", [PHONE]),
  never_reached_carrier: () => bad("The call never reached the carrier.", [PHONE]),
  never_connected: () => bad("The call was not connected in time, so it was closed.", [AGENT]),
  line_lost: () => bad("The simulated line was lost because the server restarted.", []),
  server_stopped: () => bad("The server was stopped during the call.", []),
  worker_lost: () => bad("The server process ended during the call. Everything recorded until then was kept.", []),
  carrier_failed: () => bad("The carrier did not accept the call.", [PHONE]),
  credentials_refused: () => bad("The carrier rejected the credentials of its account.", [PHONE]),
  do_not_call: () => bad("The number is on the do-not-call list, so it was not called.", []),
};

function hungUp(facts: Facts): string {
  const party = partyName(facts.run);
  return party === "user" ? `The user ended the chat${during(facts)}.` : `The ${party} hung up${during(facts)}.`;
}

function fine(sentence: string, actions: NextAction[]): EndExplanation {
  return { sentence, isBad: false, actions };
}

function bad(sentence: string, actions: NextAction[]): EndExplanation {
  return { sentence, isBad: true, actions };
}

function during({ step }: Facts): string {
  return step === null || step.name === "" ? "" : ` at “${step.name}”`;
}

function because({ failure }: Facts): string {
  if (failure === undefined) return "";
  const message = text(failure, "message").replace(/\.$/, "");
  return `: the ${lowerFirst(servedBy(text(failure, "kind"), text(failure, "provider")))} failed${message === "" ? "" : ` (${message})`}`;
}

function lowerFirst(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}

function times(count: number): string {
  return count <= 1 ? "" : ` ${count} times`;
}

function editStep({ step }: Facts, verb = "Edit"): NextAction[] {
  return step === null || step.nodeId === ""
    ? []
    : [{ kind: "step", label: `${verb} “${step.name}”`, nodeId: step.nodeId }];
}

function firstMiss({ firstMissS }: Facts): NextAction[] {
  return firstMissS === null ? [] : [hear(firstMissS)];
}

/** Only of what has sound. */
function lastWords({ run }: Facts): NextAction[] {
  if (run.mode === "textchat" || (run.duration ?? 0) <= 0) return [];
  return [hear(Math.max(0, (run.duration ?? 0) - LAST_WORDS_S))];
}

function hear(seconds: number): NextAction {
  return { kind: "hear", label: `Hear it from ${formatClock(seconds * 1000)}`, seconds };
}
