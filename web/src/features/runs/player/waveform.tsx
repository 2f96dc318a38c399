/** Two lines of loudness, the caller's above the agent's, that can be listened to from any point. */

import { useElementSize } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef } from "react";
import { formatClock } from "../../../lib/format/format";
import { barsOf, type Peaks } from "../../../lib/audio/wav-peaks";
import classes from "./player.module.css";

const BAR = 2;
const GAP = 1;
const HEIGHT = 56;
const STEP_S = 5;

interface WaveformProps {
  peaks: Peaks | null;
  seconds: number;
  total: number;
  onSeek: (seconds: number) => void;
}

export function Waveform({ peaks, seconds, total, onSeek }: WaveformProps) {
  const { ref, width } = useElementSize<HTMLDivElement>();
  const share = total > 0 ? Math.min(1, seconds / total) : 0;
  const at = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    onSeek(((event.clientX - box.left) / box.width) * total);
  };
  const press = (event: KeyboardEvent) => {
    const to = { ArrowLeft: seconds - STEP_S, ArrowRight: seconds + STEP_S, Home: 0, End: total }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    onSeek(Math.min(total, to));
  };
  return (
    <div
      ref={ref}
      className={classes.wave}
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
      <Channel values={peaks?.channels[0]} width={width} name="Caller" side="caller" />
      <Channel values={peaks?.channels[1] ?? peaks?.channels[0]} width={width} name="Agent" side="agent" />
      <i className={classes.played} style={{ width: `${share * 100}%` }} />
    </div>
  );
}

interface ChannelProps {
  values: Float32Array | undefined;
  width: number;
  name: string;
  side: "caller" | "agent";
}

function Channel({ values, width, name, side }: ChannelProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const bars = useMemo(
    () => (values && width > 0 ? barsOf(values, Math.floor(width / (BAR + GAP))) : []),
    [values, width],
  );
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || width === 0) return;
    const paint = () => draw(element, context, bars, width);
    paint();
    // Colors come from the page, so that they follow its scheme.
    const watcher = new MutationObserver(paint);
    watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["data-mantine-color-scheme"] });
    return () => watcher.disconnect();
  }, [bars, width]);
  return (
    <div className={classes.channel} data-side={side}>
      <span className={classes.side}>{name}</span>
      <canvas ref={canvas} style={{ width, height: HEIGHT }} aria-hidden="true" />
    </div>
  );
}

function draw(
  element: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  bars: readonly number[],
  width: number,
): void {
  const ratio = window.devicePixelRatio || 1;
  element.width = width * ratio;
  element.height = HEIGHT * ratio;
  context.scale(ratio, ratio);
  context.clearRect(0, 0, width, HEIGHT);
  context.fillStyle = getComputedStyle(element).color;
  bars.forEach((value, index) => {
    // Speech is quiet most of the time: its root is what looks as loud as it sounds.
    const tall = Math.max(1.5, Math.sqrt(value) * (HEIGHT - 8));
    context.fillRect(index * (BAR + GAP), (HEIGHT - tall) / 2, BAR, tall);
  });
}
