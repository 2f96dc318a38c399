/** The conversation turn by turn: what was heard and answered, with the prompt, the tools and the times behind it. */

import { Anchor, Collapse, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ChevronRight, Play } from "lucide-react";
import { type ReactNode, useState } from "react";
import { LatencySummary, RecordingSummary } from "../../../components/charts/latency";
import { Panel } from "../../../components/layout/panel";
import { formatClock, formatMilliseconds } from "../../../lib/format/format";
import { type AnswerTimes, matchSilences } from "../../../lib/live/answer-times";
import { STEPS, type Turn } from "../../../lib/live/latency";
import type { ConversationTurn, TurnTool } from "../../../lib/live/turns";
import { usePermissions } from "../../../lib/organization/organization-context";
import { TurnReplay } from "./turn-replay";
import classes from "./turns-panel.module.css";

interface TurnsPanelProps {
  agentId: number;
  runId: number;
  turns: ConversationTurn[];
  /** What each step tells the model, by its id. */
  prompts: ReadonlyMap<string, string>;
  isOver: boolean;
  /** Measured in the recording; null without one. */
  answerTimes: AnswerTimes | null;
  /** Null when there is nothing to hear. */
  onSeek: ((seconds: number) => void) | null;
}

function turnId(index: number): string {
  return `turn-${index}`;
}

/** Brings a turn into view, and the keyboard to it: `count` is what the caller had said by then. Turns that were not understood
 * are in the list and do not count. */
export function showHeardTurn(turns: readonly ConversationTurn[], count: number) {
  const turn = turns.filter(({ heard }) => heard !== null)[count - 1];
  const row = turn === undefined ? null : document.getElementById(turnId(turn.index));
  row?.scrollIntoView({ block: "center" });
  row?.querySelector<HTMLElement>("[aria-expanded]")?.focus({ preventScroll: true });
}

export function TurnsPanel({ agentId, runId, turns, prompts, isOver, answerTimes, onSeek }: TurnsPanelProps) {
  const permissions = usePermissions();
  if (turns.length === 0) return null;
  const timed = turns.flatMap((turn) => (turn.timing === null ? [] : [turn.timing]));
  const slowest = Math.max(500, ...timed.map((timing) => timing.responseMs));
  const silences = matchSilences(turns, answerTimes?.answers ?? []);
  const isMeasured = answerTimes !== null && answerTimes.p50_ms !== null;
  const misses = turns.filter((turn) => turn.heard === null).length;
  return (
    <Panel title="Turns" right={misses > 0 && <Text fz="sm" c="var(--warn)">{`${misses} not understood`}</Text>}>
      {(timed.length > 0 || isMeasured) && (
        <div className={classes.summary}>
          {timed.length > 0 && <LatencySummary turns={timed} isOver={isOver} />}
          {isMeasured && <RecordingSummary times={answerTimes} />}
        </div>
      )}
      <ol className={classes.turns} aria-label="Turns of the conversation">
        {turns.map((turn) => (
          <TurnRow
            key={turn.index}
            agentId={agentId}
            runId={runId}
            canReplay={permissions.write}
            turn={turn}
            prompt={prompts.get(turn.nodeId) ?? ""}
            scale={slowest}
            silenceMs={silences.get(turn.index) ?? null}
            onSeek={onSeek}
          />
        ))}
      </ol>
    </Panel>
  );
}

interface TurnRowProps {
  agentId: number;
  runId: number;
  canReplay: boolean;
  turn: ConversationTurn;
  prompt: string;
  scale: number;
  /** Before its answer, in the recording. */
  silenceMs: number | null;
  onSeek: ((seconds: number) => void) | null;
}

function TurnRow({ agentId, runId, canReplay, turn, prompt, scale, silenceMs, onSeek }: TurnRowProps) {
  const [isOpen, setIsOpen] = useState(false);
  const words = turn.heard ?? `Not understood, ${formatMilliseconds(turn.endMs - turn.atMs)} of speech`;
  return (
    <li id={turnId(turn.index)} className={classes.turn} data-missed={turn.heard === null || undefined}>
      <div className={classes.row}>
        {onSeek === null ? (
          <span className={classes.time}>{turn.index}</span>
        ) : (
          <button
            type="button"
            className={classes.time}
            aria-label={`Play turn ${turn.index}, from ${formatClock(turn.atMs)}`}
            onClick={() => onSeek(Math.max(0, turn.atMs / 1000 - 0.3))}
          >
            <Play size={11} aria-hidden="true" />
            {formatClock(turn.atMs)}
          </button>
        )}
        <button type="button" className={classes.words} aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          <span>{words}</span>
          <ChevronRight size={15} aria-hidden="true" />
        </button>
        <span className={classes.total} title="Response time, as the server measured it">
          {turn.timing === null ? "" : formatMilliseconds(turn.timing.responseMs)}
        </span>
        {silenceMs !== null && (
          <span className={classes.total} title="Silence before the answer, measured in the recording">
            {`${formatMilliseconds(silenceMs)} silence`}
          </span>
        )}
      </div>
      {turn.timing !== null && <Bar timing={turn.timing} scale={scale} />}
      <Collapse expanded={isOpen}>
        <dl className={classes.details}>
          <Detail name="Step">
            <Anchor
              fz="sm"
              renderRoot={(props) => (
                <Link to="/agents/$agentId" params={{ agentId }} search={{ step: turn.nodeId }} {...props} />
              )}
            >
              {turn.step}
            </Anchor>
          </Detail>
          {prompt !== "" && <Detail name="Prompt">{prompt}</Detail>}
          <Detail name="Answer">{turn.answer === "" ? "None" : turn.answer + (turn.wasInterrupted ? " …" : "")}</Detail>
          {turn.tools.map((tool) => (
            <Tool key={tool.id} tool={tool} />
          ))}
          {turn.sources.length > 0 && <Detail name="Documents">{turn.sources.join(", ")}</Detail>}
          {turn.timing !== null && <Detail name="Time">{describeTiming(turn.timing)}</Detail>}
          {silenceMs !== null && (
            <Detail name="Measured in the recording">{`${formatMilliseconds(silenceMs)} of silence before the answer`}</Detail>
          )}
        </dl>
        {isOpen && canReplay && turn.heard !== null && turn.heard !== "" && (
          <TurnReplay agentId={agentId} runId={runId} turn={turn.index} />
        )}
      </Collapse>
    </li>
  );
}

function Bar({ timing, scale }: { timing: Turn; scale: number }) {
  return (
    <span className={classes.track} role="img" aria-label={describeTiming(timing)} title={describeTiming(timing)}>
      {timing.parts.map((part) => (
        <i key={part.key} data-step={part.key} style={{ width: `${(part.ms / scale) * 100}%` }} />
      ))}
    </span>
  );
}

const LABELS = new Map<string, string>(STEPS.map((step) => [step.key, step.label]));

function describeTiming(timing: Turn): string {
  return timing.parts.map((part) => `${LABELS.get(part.key) ?? part.key} ${part.ms} ms`).join(" · ");
}

function Tool({ tool }: { tool: TurnTool }) {
  const state = tool.isOk === null ? "no answer" : tool.isOk ? "succeeded" : "failed";
  return (
    <Detail name={`Tool ${tool.name}`}>
      <span data-failed={tool.isOk === false || undefined}>
        {state}
        {tool.ms !== null && ` in ${formatMilliseconds(tool.ms)}`}
      </span>
      <code>{JSON.stringify(tool.arguments ?? {}, null, 1)}</code>
      {tool.answer !== "" && <code>{tool.answer}</code>}
    </Detail>
  );
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
