/** The line of an edge: from the bottom of one step to the top of another, or to its own. */

import type { Point } from "../definition";
import { NODE_WIDTH } from "../places";

/** An edge is drawn around when its end is not at least this far (px) below its beginning. */
const BELOW = 24;
/** The same where one step stands under the other: there is nothing beside which a short line could run. */
const RIGHT_BELOW = 4;
/** How far beside the cards it runs. */
const ASIDE = 64;
const BEND = 90;
/** How far (px) an edge that leads back goes below its step before it turns to its lane. */
const TURN = 56;

/** A vertical stretch beside other steps, through which an edge is led. */
export interface Lane {
  x: number;
  /** Where the edge enters it and where it leaves it; the first is the lower one of an edge that leads back. */
  from: number;
  until: number;
}

/** The four points of a cubic curve; a straight stretch has its handles on the line. */
export type Curve = readonly [Point, Point, Point, Point];

export function leadsBack(source: Point, target: Point): boolean {
  const isUnder = Math.abs(target.x - source.x) < NODE_WIDTH / 2;
  return target.y < source.y + (isUnder ? RIGHT_BELOW : BELOW);
}

/** The curves of an edge, in order. */
export function edgeCurves(source: Point, target: Point, lane?: Lane): Curve[] {
  if (lane !== undefined) return laneCurves(source, target, lane);
  if (!leadsBack(source, target)) {
    const half = (target.y - source.y) / 2;
    return [[source, { x: source.x, y: source.y + half }, { x: target.x, y: target.y - half }, target]];
  }
  // A cubic curve comes three quarters of the way to its handles.
  const reach = (Math.abs(target.x - source.x) / 2 + NODE_WIDTH / 2 + ASIDE) / 0.75;
  const middle = (source.x + target.x) / 2;
  const side = target.x >= source.x ? middle + reach : middle - reach;
  return [[source, { x: side, y: source.y + BEND }, { x: side, y: target.y - BEND }, target]];
}

function laneCurves(source: Point, target: Point, { x, from, until }: Lane): Curve[] {
  const enter = { x, y: from };
  const leave = { x, y: until };
  const straight: Curve = [enter, enter, leave, leave];
  if (leadsBack(source, target)) {
    return [
      [source, { x: source.x, y: source.y + TURN }, { x, y: from + TURN }, enter],
      straight,
      [leave, { x, y: until - TURN }, { x: target.x, y: target.y - TURN }, target],
    ];
  }
  const first = (from - source.y) / 2;
  const last = (target.y - until) / 2;
  return [
    [source, { x: source.x, y: source.y + first }, { x, y: from - first }, enter],
    straight,
    [leave, { x, y: until + last }, { x: target.x, y: target.y - last }, target],
  ];
}

export function drawCurves(curves: readonly Curve[]): string {
  const start = curves[0]?.[0];
  if (start === undefined) return "";
  const parts = curves.map(([, a, b, end]) => `C ${a.x} ${a.y}, ${b.x} ${b.y}, ${end.x} ${end.y}`);
  return `M ${start.x} ${start.y} ${parts.join(" ")}`;
}

/** The point at a share (0 to 1) of the edge, counted by curves. */
export function pointAt(curves: readonly Curve[], share: number): Point {
  const index = Math.min(Math.floor(share * curves.length), curves.length - 1);
  const curve = curves[index];
  if (curve === undefined) return { x: 0, y: 0 };
  const t = share * curves.length - index;
  const weights = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3];
  return {
    x: curve.reduce((sum, point, order) => sum + point.x * (weights[order] ?? 0), 0),
    y: curve.reduce((sum, point, order) => sum + point.y * (weights[order] ?? 0), 0),
  };
}
