/** How long the caller waited in each turn, and for what, as bars on one scale. */

import { Text, Tooltip } from "@mantine/core";
import { formatClock, formatMilliseconds } from "../../lib/format/format";
import type { AnswerTimes } from "../../lib/live/answer-times";
import { STEPS, type Turn, percentile } from "../../lib/live/latency";
import classes from "./latency.module.css";

/** `isOver`: the last response is news only while the conversation goes on. */
export function LatencySummary({ turns, isOver = false }: { turns: Turn[]; isOver?: boolean }) {
  const last = turns.at(-1);
  return (
    <dl className={classes.summary}>
      {!isOver && <Figure name="Last response" value={formatMilliseconds(last?.responseMs)} isMain />}
      <Figure name={isOver ? "Median response" : "Median"} value={formatMilliseconds(percentile(turns, 0.5))} />
      <Figure name="p95" value={formatMilliseconds(percentile(turns, 0.95))} />
    </dl>
  );
}

/** What is heard: from the caller's last sound to the agent's first one. */
export function RecordingSummary({ times }: { times: Pick<AnswerTimes, "p50_ms" | "p95_ms"> }) {
  return (
    <section aria-label="Measured in the recording">
      <Text fz="xs" c="dimmed" mb={2}>
        Measured in the recording
      </Text>
      <dl className={classes.summary}>
        <Figure name="Median silence" value={formatMilliseconds(times.p50_ms)} />
        <Figure name="p95" value={formatMilliseconds(times.p95_ms)} />
      </dl>
    </section>
  );
}

function Figure({ name, value, isMain = false }: { name: string; value: string; isMain?: boolean }) {
  return (
    <div data-main={isMain || undefined}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** The slowest turn fills the width; a call of fast turns is drawn to half a second. */
export function LatencyBars({ turns, onSeek }: { turns: Turn[]; onSeek?: (ms: number) => void }) {
  const scale = Math.max(500, ...turns.map((turn) => turn.responseMs));
  return (
    <div>
      <ul className={classes.legend} aria-hidden="true">
        {STEPS.map((step) => (
          <li key={step.key}>
            <i data-step={step.key} />
            {step.label}
          </li>
        ))}
      </ul>
      <ol className={classes.bars} aria-label="Response time per turn">
        {turns.map((turn) => (
          <Bar key={turn.index} turn={turn} scale={scale} onSeek={onSeek} />
        ))}
      </ol>
    </div>
  );
}

/** With `onSeek` a turn can be listened to from the caller's last word. */
function Bar({ turn, scale, onSeek }: { turn: Turn; scale: number; onSeek: ((ms: number) => void) | undefined }) {
  const labels = new Map<string, string>(STEPS.map((step) => [step.key, step.label]));
  const from = Math.max(0, turn.atMs - turn.responseMs);
  const words = turn.parts.map((part) => `${labels.get(part.key) ?? part.key} ${part.ms} ms`).join(" · ");
  return (
    <li className={classes.row} data-timed={onSeek !== undefined || undefined}>
      {onSeek === undefined ? (
        <span className={classes.index}>{turn.index}</span>
      ) : (
        <button
          type="button"
          className={classes.seek}
          onClick={() => onSeek(from)}
          aria-label={`Play turn ${turn.index}, from ${formatClock(from)}`}
        >
          {formatClock(from)}
        </button>
      )}
      <Tooltip label={words} openDelay={150}>
        <span className={classes.track} role="img" aria-label={words}>
          {turn.parts.map((part) => (
            <i key={part.key} data-step={part.key} style={{ width: `${(part.ms / scale) * 100}%` }} />
          ))}
        </span>
      </Tooltip>
      <span className={classes.total}>{formatMilliseconds(turn.responseMs)}</span>
    </li>
  );
}
