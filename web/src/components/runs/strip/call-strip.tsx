/** A call over its full length: marks, the sound of both sides, the steps with their names. A click plays from there. */

import { Tooltip } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { Ear, EarOff, Hand, Hourglass, TriangleAlert, Wrench } from "lucide-react";
import type { KeyboardEvent, PointerEvent, ReactNode } from "react";
import { formatClock } from "../../../lib/format/format";
import { SoundWave } from "./sound-wave";
import { describeMark, groupMarks, type Mark, type MarkGroup, stepColors, type Strip, ticksOf } from "./strip-shapes";
import classes from "./call-strip.module.css";

const HEIGHT = 104;
const JUMP_S = 5;
/** A mark is heard with what led to it. */
const LEAD_S = 0.5;
const MARK_PX = 26;
const TICK_PX = 90;
const TICK_LABEL_PX = 36;
const ICONS = {
  barge_in: Hand,
  talked_through: Ear,
  not_understood: EarOff,
  tool_call: Wrench,
  slow_answer: Hourglass,
  failure: TriangleAlert,
} as const;

interface CallStripProps {
  strip: Strip;
  seconds: number;
  total: number;
  onSeek: (seconds: number) => void;
  onToggle: () => void;
}

export function CallStrip({ strip, seconds, total, onSeek, onToggle }: CallStripProps) {
  const { ref, width } = useElementSize<HTMLDivElement>();
  const percent = (at: number) => (total > 0 ? `${Math.min(100, Math.max(0, (at / total) * 100))}%` : "0%");
  const groups = groupMarks(strip.marks, total, width > 0 ? MARK_PX / width : 1);
  return (
    <div className={classes.strip} ref={ref}>
      {groups.length > 0 && (
        <ul className={classes.marks} aria-label="Marks of the call">
          {groups.map((group) => (
            <MarkButton key={group.share} group={group} left={percent(group.share * total)} onSeek={onSeek} />
          ))}
        </ul>
      )}
      <Wave seconds={seconds} total={total} onSeek={onSeek} onToggle={onToggle}>
        <SoundWave caller={strip.caller} agent={strip.agent} width={Math.max(1, width)} height={HEIGHT} />
        {strip.marks
          .filter((mark) => mark.end_s > mark.start_s && mark.kind !== "tool_call")
          .map((mark, index) => (
            <i
              key={index}
              className={classes.band}
              data-kind={mark.kind}
              style={{ left: percent(mark.start_s), width: percent(mark.end_s - mark.start_s) }}
            />
          ))}
        <i className={classes.played} style={{ width: percent(seconds) }} />
      </Wave>
      <Steps strip={strip} seconds={seconds} percent={percent} onSeek={onSeek} />
      <div className={classes.scale} aria-hidden="true">
        {ticksOf(total, Math.max(2, width / TICK_PX), width > 0 ? TICK_LABEL_PX / width : 0).map((tick) => (
          <span key={tick} style={{ left: percent(tick) }}>
            {formatClock(tick * 1000)}
          </span>
        ))}
      </div>
    </div>
  );
}

interface WaveProps {
  seconds: number;
  total: number;
  onSeek: (seconds: number) => void;
  onToggle: () => void;
  children: ReactNode;
}

function Wave({ seconds, total, onSeek, onToggle, children }: WaveProps) {
  const at = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    onSeek(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * total);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === " ") {
      event.preventDefault();
      onToggle();
      return;
    }
    const to = { ArrowLeft: seconds - JUMP_S, ArrowRight: seconds + JUMP_S, Home: 0, End: total }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    onSeek(Math.min(total, Math.max(0, to)));
  };
  return (
    <div
      className={classes.wave}
      style={{ height: HEIGHT }}
      role="slider"
      tabIndex={0}
      aria-label="Position in the recording"
      aria-valuemin={0}
      aria-valuemax={Math.round(total)}
      aria-valuenow={Math.round(seconds)}
      aria-valuetext={`${formatClock(seconds * 1000)} of ${formatClock(total * 1000)}`}
      onKeyDown={press}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        at(event);
      }}
      onPointerMove={(event) => event.buttons === 1 && at(event)}
    >
      {children}
    </div>
  );
}

const SEVERITY: readonly Mark["kind"][] = [
  "failure",
  "not_understood",
  "slow_answer",
  "barge_in",
  "talked_through",
  "tool_call",
];

function MarkButton({ group, left, onSeek }: { group: MarkGroup; left: string; onSeek: (seconds: number) => void }) {
  const words = group.marks.map(describeMark);
  const worst = SEVERITY.find((kind) => group.marks.some((mark) => mark.kind === kind)) ?? "failure";
  const Icon = ICONS[worst];
  const first = group.marks[0]?.start_s ?? 0;
  return (
    // At the right end it would leave the strip.
    <li style={{ left: `min(${left}, calc(100% - ${MARK_PX}px))` }}>
      <Tooltip label={words.join("\n")} style={{ whiteSpace: "pre-line" }}>
        <button
          type="button"
          className={classes.mark}
          data-kind={worst}
          aria-label={words.length > 1 ? `${words.length} marks: ${words.join("; ")}` : words[0]}
          onClick={() => onSeek(Math.max(0, first - LEAD_S))}
        >
          <Icon size={14} aria-hidden="true" />
          {group.marks.length > 1 && <span>{group.marks.length}</span>}
        </button>
      </Tooltip>
    </li>
  );
}

interface StepsProps {
  strip: Strip;
  seconds: number;
  percent: (at: number) => string;
  onSeek: (seconds: number) => void;
}

/** The step that is heard is lit. */
function Steps({ strip, seconds, percent, onSeek }: StepsProps) {
  const colors = stepColors(strip.steps);
  const heard = strip.steps.findLastIndex((step) => step.start_s <= seconds);
  if (strip.steps.length === 0) return null;
  return (
    <ol className={classes.steps} aria-label="Steps of the call">
      {strip.steps.map((step, index) => (
        <li key={index} style={{ left: percent(step.start_s), width: percent(step.end_s - step.start_s) }}>
          <button
            type="button"
            className={classes.step}
            data-color={colors[index]}
            aria-current={index === heard ? "step" : undefined}
            aria-label={`${step.name}, from ${formatClock(step.start_s * 1000)}`}
            title={`${step.name}, ${formatClock(step.start_s * 1000)}–${formatClock(step.end_s * 1000)}`}
            onClick={() => onSeek(step.start_s)}
          >
            <span>{step.name}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}
