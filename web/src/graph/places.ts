/** The size of a step on the canvas in pixels, and where a new one fits. */

import type { Definition, Point, GraphNode } from "./definition";
import { type Box, grow, overlaps } from "./layout/boxes";

export const NODE_WIDTH = 236;
/** What a card takes without being measured. */
export const NODE_HEIGHT = 96;
export const GAP_X = 44;
export const GAP_Y = 84;
/** Room for what floats over the canvas: the palette on the left, tools above and below. */
export const FIT_PADDING = { left: "84px", top: "68px", right: "44px", bottom: "64px" } as const;

/** Whether all of the steps can be seen where the view reaches from one point of the canvas to another. */
export function areInside(nodes: readonly Pick<GraphNode, "position">[], view: { from: Point; until: Point }): boolean {
  return nodes.every(
    ({ position: { x, y } }) =>
      x >= view.from.x && y >= view.from.y && x + NODE_WIDTH <= view.until.x && y + NODE_HEIGHT <= view.until.y,
  );
}

/** The upper left corner of a step whose middle is at this point, at its upper edge. */
export function centered({ x, y }: Point): Point {
  return { x: x - NODE_WIDTH / 2, y };
}

/** Where steps of this size in all stand: below their predecessor, beside whatever is there already. */
export function freePlace(
  definition: Definition,
  expected: Point,
  size = { width: NODE_WIDTH, height: NODE_HEIGHT },
): Point {
  const isTaken = (x: number) =>
    definition.nodes.some(
      ({ position }) =>
        position.x > x - NODE_WIDTH - 10 &&
        position.x < x + size.width + 10 &&
        position.y > expected.y - NODE_HEIGHT - 10 &&
        position.y < expected.y + size.height + 10,
    );
  let x = expected.x;
  while (isTaken(x)) x += NODE_WIDTH + GAP_X;
  return { x: Math.round(x), y: Math.round(expected.y) };
}

/** What a new step keeps from what is there, and how finely a place for it is looked for (px). */
const APART = 14;
const GRID = 20;

/**
 * The place for a step that is nearest to the expected one and touches none of the boxes; undefined when there is none within
 * `reach`, which is how far it may be off to either side.
 */
export function nearestFreePlace(boxes: readonly Box[], expected: Point, reach: Point): Point | undefined {
  const isFree = ({ x, y }: Point) => {
    const card = grow({ left: x, top: y, right: x + NODE_WIDTH, bottom: y + NODE_HEIGHT }, APART);
    return !boxes.some((box) => overlaps(box, card));
  };
  const steps = (far: number) => {
    const count = Math.max(0, Math.floor(far / GRID));
    return Array.from({ length: 2 * count + 1 }, (_, index) => (index - count) * GRID);
  };
  const away = ({ x, y }: Point) => Math.hypot(x - expected.x, y - expected.y);
  return steps(reach.x)
    .flatMap((x) => steps(reach.y).map((y) => ({ x: Math.round(expected.x + x), y: Math.round(expected.y + y) })))
    .sort((one, other) => away(one) - away(other))
    .find(isFree);
}

/** Where a step between two others stands, and how far down what is below has to go for it. */
export function placeBetween(source: Point, target: Point): { place: Point; shift: number } {
  const first = source.y + NODE_HEIGHT + GAP_Y;
  const last = first + NODE_HEIGHT + GAP_Y;
  const isBelow = target.y > source.y;
  return {
    place: {
      x: Math.round((source.x + target.x) / 2),
      y: Math.round(isBelow ? Math.max(first, (source.y + target.y) / 2) : first),
    },
    shift: isBelow ? Math.max(0, Math.round(last - target.y)) : 0,
  };
}
