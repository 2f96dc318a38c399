/** A level meter that draws itself on animation frames, past React. */

import { useEffect, useRef } from "react";
import { meter } from "../../lib/audio/pcm";
import classes from "./talk-panel.module.css";

/** How much of the shown level is left after a frame of silence. */
const DECAY = 0.86;

export function Meter({ name, level }: { name: string; level: () => number }) {
  const bar = useRef<HTMLElement>(null);
  const read = useRef(level);
  read.current = level;
  useEffect(() => {
    let shown = 0;
    let frame = requestAnimationFrame(function draw() {
      shown = Math.max(meter(read.current()), shown * DECAY);
      if (bar.current) bar.current.style.transform = `scaleX(${shown.toFixed(3)})`;
      frame = requestAnimationFrame(draw);
    });
    return () => cancelAnimationFrame(frame);
  }, []);
  return (
    <span className={classes.meter}>
      <span>{name}</span>
      <span className={classes.bar} aria-hidden="true">
        <i ref={bar} />
      </span>
    </span>
  );
}
