import { expect, it } from "vitest";
import { NODE_WIDTH } from "../places";
import { drawCurves, edgeCurves, pointAt } from "./edge-path";

const at = (x: number, y: number) => ({ x, y });
const middle = (sourceX: number, sourceY: number, targetX: number, targetY: number) =>
  pointAt(edgeCurves(at(sourceX, sourceY), at(targetX, targetY)), 0.5);

it("goes around only where an edge leads back, beside the cards of both steps", () => {
  expect(middle(0, 0, 50, 200)).toEqual({ x: 25, y: 100 });
  expect(middle(0, 400, 0, 100).x).toBeGreaterThan(NODE_WIDTH / 2);
  expect(middle(0, 400, 300, 100).x).toBeGreaterThan(300 + NODE_WIDTH / 2);
  expect(middle(0, 400, -300, 100).x).toBeLessThan(-300 - NODE_WIDTH / 2);
});

it("goes straight to a step that stands close below", () => {
  expect(middle(0, 0, 10, 20)).toEqual({ x: 5, y: 10 });
  expect(middle(0, 0, NODE_WIDTH, 20).x).toBeGreaterThan(NODE_WIDTH);
});

it("begins and ends at its steps, and stays in its lane between", () => {
  const curves = edgeCurves(at(0, 0), at(50, 600), { x: 300, from: 100, until: 500 });
  expect([pointAt(curves, 0), pointAt(curves, 0.5), pointAt(curves, 1)]).toEqual([at(0, 0), at(300, 300), at(50, 600)]);
  expect(drawCurves(curves)).toBe(
    "M 0 0 C 0 50, 300 50, 300 100 C 300 100, 300 500, 300 500 C 300 550, 50 550, 50 600",
  );
  expect(drawCurves([])).toBe("");
});
