/** A conversation to read: who said what, and what happened between. */

import { useEffect, useRef } from "react";
import type { Line, SpeechLine } from "../../lib/live/transcript";
import { useFollowEnd } from "../../lib/focus/follow-end";
import { formatClock, humanize } from "../../lib/format/format";
import type { PartyName } from "../../lib/runs/run-labels";
import classes from "./transcript.module.css";

interface TranscriptProps {
  lines: Line[];
  agentName: string;
  /** Who talks with the agent. */
  partyName?: PartyName;
  /** Scrolls with what comes, unless the reader scrolled up. */
  isLive?: boolean;
  hasTimes?: boolean;
  /** Where a recording is: what is being said then is marked, and stays in sight. */
  heardMs?: number;
  /** Each line can be listened to. */
  onSeek?: (ms: number) => void;
}

export function Transcript({
  lines,
  agentName,
  partyName = "caller",
  isLive = false,
  hasTimes = false,
  heardMs,
  onSeek,
}: TranscriptProps) {
  const box = useRef<HTMLDivElement>(null);
  const watch = useFollowEnd(box, lines, isLive);
  const heardId =
    heardMs === undefined
      ? undefined
      : lines.findLast((line) => line.kind === "speech" && line.atMs <= heardMs + 150)?.id;
  useEffect(() => {
    const element = box.current;
    const line = heardId === undefined ? null : element?.querySelector<HTMLElement>(`[data-line="${heardId}"]`);
    if (element && line) element.scrollTop = line.offsetTop - element.offsetTop - element.clientHeight / 3;
  }, [heardId]);
  return (
    <div
      ref={box}
      className={classes.transcript}
      role="log"
      aria-label="Transcript"
      aria-live={isLive ? "polite" : "off"}
      tabIndex={0}
      onScroll={watch}
    >
      {lines.map((line, index) =>
        line.kind === "note" ? (
          <p key={line.id} className={classes.note} data-tone={line.tone}>
            <span>{line.text}</span>
          </p>
        ) : (
          <Bubble
            key={line.id}
            line={line}
            agentName={agentName}
            partyName={partyName}
            hasTime={hasTimes}
            isFollowing={follows(lines, index)}
            isHeard={line.id === heardId}
            onSeek={onSeek}
          />
        ),
      )}
    </div>
  );
}

function follows(lines: Line[], index: number): boolean {
  const line = lines[index];
  const before = lines[index - 1];
  return line?.kind === "speech" && before?.kind === "speech" && before.speaker === line.speaker;
}

interface BubbleProps {
  line: SpeechLine;
  agentName: string;
  partyName: PartyName;
  hasTime: boolean;
  isFollowing: boolean;
  isHeard: boolean;
  onSeek: ((ms: number) => void) | undefined;
}

function Bubble({ line, agentName, partyName, hasTime, isFollowing, isHeard, onSeek }: BubbleProps) {
  const isCaller = line.speaker === "caller";
  return (
    <div
      className={classes.turn}
      data-line={line.id}
      data-speaker={line.speaker}
      data-state={line.state}
      data-following={isFollowing || undefined}
      data-heard={isHeard || undefined}
    >
      {(!isFollowing || onSeek !== undefined) && (
        <span className={classes.who}>
          {!isFollowing && (isCaller ? humanize(partyName) : agentName)}
          {hasTime &&
            (onSeek === undefined ? (
              <time>{formatClock(line.atMs)}</time>
            ) : (
              <TimeButton atMs={line.atMs} onSeek={onSeek} />
            ))}
        </span>
      )}
      <p className={classes.bubble}>
        {line.text}
        {line.unheard !== "" && (
          <>
            {" "}
            <s className={classes.unheard} title="Not played because the agent was interrupted">
              {line.unheard}
            </s>
          </>
        )}
      </p>
      {line.state === "interrupted" && <span className={classes.mark}>interrupted</span>}
    </div>
  );
}

function TimeButton({ atMs, onSeek }: { atMs: number; onSeek: (ms: number) => void }) {
  return (
    <button
      type="button"
      className={classes.time}
      onClick={() => onSeek(atMs)}
      aria-label={`Play from ${formatClock(atMs)}`}
    >
      {formatClock(atMs)}
    </button>
  );
}
