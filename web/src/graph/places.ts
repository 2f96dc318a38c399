/** The size of a step on the canvas in pixels, and where a new one fits. */

import type { Definition, Point, GraphNode } from "./definition";

export const NODE_WIDTH = 236;
/** What a card takes without being measured. */
export const NODE_HEIGHT = 96;
export const GAP_X = 44;
export const GAP_Y = 84;

/** Whether all of the steps can be seen where the view reaches from one point of the canvas to another. */
export function areInside(nodes: readonly Pick<GraphNode, "position">[], view: { from: Point; until: Point }): boolean {
  return nodes.every(
    ({ position: { x, y } }) =>
      x >= view.from.x && y >= view.from.y && x + NODE_WIDTH <= view.until.x && y + NODE_HEIGHT <= view.until.y,
  );
}

/** Where a new step stands: below its predecessor, beside whatever is there already. */
export function freePlace(definition: Definition, expected: Point): Point {
  const isTaken = (x: number) =>
    definition.nodes.some(
      ({ position }) =>
        Math.abs(position.x - x) < NODE_WIDTH + 10 && Math.abs(position.y - expected.y) < NODE_HEIGHT + 10,
    );
  let x = expected.x;
  while (isTaken(x)) x += NODE_WIDTH + GAP_X;
  return { x: Math.round(x), y: Math.round(expected.y) };
}
