/** Rectangles and points of the canvas, in its own pixels. */

import type { Point } from "../definition";

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export function isInside({ x, y }: Point, box: Box): boolean {
  return x > box.left && x < box.right && y > box.top && y < box.bottom;
}

export function overlaps(one: Box, other: Box): boolean {
  return one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;
}

export function grow(box: Box, by: number): Box {
  return { left: box.left - by, top: box.top - by, right: box.right + by, bottom: box.bottom + by };
}

/** The box that holds all of them; there has to be one. */
export function union(boxes: readonly Box[]): Box {
  return {
    left: Math.min(...boxes.map((box) => box.left)),
    top: Math.min(...boxes.map((box) => box.top)),
    right: Math.max(...boxes.map((box) => box.right)),
    bottom: Math.max(...boxes.map((box) => box.bottom)),
  };
}
