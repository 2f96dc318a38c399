/** The size of a step on the canvas in pixels, and where a new one fits. */

import type { Definition, Point, Step } from "./definition";

export const STEP_WIDTH = 236;
/** What a card takes without being measured. */
export const STEP_HEIGHT = 96;
export const GAP_X = 44;
export const GAP_Y = 84;

/** Whether all of the steps can be seen where the view reaches from one point of the canvas to another. */
export function areInside(steps: readonly Pick<Step, "position">[], view: { from: Point; until: Point }): boolean {
  return steps.every(
    ({ position: { x, y } }) =>
      x >= view.from.x && y >= view.from.y && x + STEP_WIDTH <= view.until.x && y + STEP_HEIGHT <= view.until.y,
  );
}

/** Where a new step stands: below its predecessor, beside whatever is there already. */
export function freePlace(definition: Definition, wanted: Point): Point {
  const isTaken = (x: number) =>
    definition.nodes.some(
      ({ position }) =>
        Math.abs(position.x - x) < STEP_WIDTH + 10 && Math.abs(position.y - wanted.y) < STEP_HEIGHT + 10,
    );
  let x = wanted.x;
  while (isTaken(x)) x += STEP_WIDTH + GAP_X;
  return { x: Math.round(x), y: Math.round(wanted.y) };
}
