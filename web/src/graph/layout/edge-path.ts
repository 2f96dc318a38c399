/** The line of an edge that leads back up, or to its own step: around the side, where it would else run through the cards. */

import { NODE_WIDTH } from "../places";

/** An edge is drawn around when its end is not at least this far (px) below its beginning. */
const BELOW = 24;
/** How far beside the cards it runs. */
const ASIDE = 64;
const BEND = 90;

export interface Line {
  path: string;
  /** The middle, where the label stands. */
  x: number;
  y: number;
}

/** From the bottom of one step to the top of another; null when a plain curve does it. */
export function aroundPath(sourceX: number, sourceY: number, targetX: number, targetY: number): Line | null {
  if (targetY >= sourceY + BELOW) return null;
  // A cubic curve comes three quarters of the way to its handles.
  const reach = (Math.abs(targetX - sourceX) / 2 + NODE_WIDTH / 2 + ASIDE) / 0.75;
  const side = targetX >= sourceX ? (sourceX + targetX) / 2 + reach : (sourceX + targetX) / 2 - reach;
  return {
    path: `M ${sourceX} ${sourceY} C ${side} ${sourceY + BEND}, ${side} ${targetY - BEND}, ${targetX} ${targetY}`,
    x: 0.125 * (sourceX + targetX) + 0.75 * side,
    y: (sourceY + targetY) / 2,
  };
}
