/** A small picture of a template's graph, read from left to right. */

import type { Template } from "../../lib/api/types";
import classes from "./templates.module.css";

/** Distances of the editor (x is across, y is down), and what one of them takes in the picture. */
const EDITOR_COLUMN = 420;
const EDITOR_ROW = 260;
const STEP_ACROSS = 44;
const STEP_DOWN = 24;
const WIDTH = 28;
const HEIGHT = 14;
const MARGIN = 8;
const MIN_ACROSS = 300;
const MIN_DOWN = 84;

interface Place {
  x: number;
  y: number;
}

export function TemplatePicture({ template }: { template: Pick<Template, "nodes" | "edges"> }) {
  const places = new Map<string, Place>(
    template.nodes.map((node) => [
      node.id,
      { x: (node.y / EDITOR_ROW) * STEP_ACROSS, y: (node.x / EDITOR_COLUMN) * STEP_DOWN },
    ]),
  );
  const lines = new Set(
    template.edges.flatMap(({ source, target }) => {
      const [from, to] = [places.get(source), places.get(target)];
      return from && to && source !== target ? [lineBetween(from, to)] : [];
    }),
  );
  return (
    <svg className={classes.picture} viewBox={boundsOf([...places.values()])} aria-hidden="true">
      {[...lines].map((line) => (
        <path key={line} d={line} className={classes.line} />
      ))}
      {template.nodes.map((node) => {
        const { x, y } = places.get(node.id) ?? { x: 0, y: 0 };
        return (
          <rect
            key={node.id}
            x={x}
            y={y}
            width={WIDTH}
            height={HEIGHT}
            rx={node.type === "agentNode" ? 4 : HEIGHT / 2}
            className={classes.step}
            data-kind={node.type}
          />
        );
      })}
    </svg>
  );
}

/** From the right side of one step to the left side of a later one, straight down a column; back in a bow below both. */
function lineBetween(from: Place, to: Place): string {
  const middle = HEIGHT / 2;
  if (to.x === from.x) {
    const [upper, lower] = from.y < to.y ? [from, to] : [to, from];
    return `M${from.x + WIDTH / 2} ${upper.y + HEIGHT}V${lower.y}`;
  }
  if (to.x > from.x) {
    const [start, end] = [from.x + WIDTH, to.x];
    const bend = Math.max(6, (end - start) / 2);
    return `M${start} ${from.y + middle}C${start + bend} ${from.y + middle} ${end - bend} ${to.y + middle} ${end} ${to.y + middle}`;
  }
  const depth = Math.max(from.y, to.y) + HEIGHT + 10;
  const [start, end] = [from.x + WIDTH / 2, to.x + WIDTH / 2];
  return `M${start} ${from.y + HEIGHT}C${start} ${depth} ${end} ${depth} ${end} ${to.y + HEIGHT}`;
}

/** The part of the plane with all steps, never so small that few steps would look big. */
function boundsOf(places: readonly Place[]): string {
  const across = places.map(({ x }) => x);
  const down = places.map(({ y }) => y);
  const width = Math.max(Math.max(...across) - Math.min(...across) + WIDTH, MIN_ACROSS);
  const height = Math.max(Math.max(...down) - Math.min(...down) + HEIGHT, MIN_DOWN);
  const left = (Math.max(...across) + Math.min(...across) + WIDTH - width) / 2;
  const top = (Math.max(...down) + Math.min(...down) + HEIGHT - height) / 2;
  return [left - MARGIN, top - MARGIN, width + 2 * MARGIN, height + 2 * MARGIN].join(" ");
}
