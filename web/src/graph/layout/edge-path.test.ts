import { expect, it } from "vitest";
import { NODE_WIDTH } from "../places";
import { aroundPath } from "./edge-path";

it("goes around only where an edge leads back, beside the cards of both steps", () => {
  expect(aroundPath(0, 0, 50, 200)).toBeNull();
  expect(aroundPath(0, 400, 0, 100)?.x).toBeGreaterThan(NODE_WIDTH / 2);
  expect(aroundPath(0, 400, 300, 100)?.x).toBeGreaterThan(300 + NODE_WIDTH / 2);
  expect(aroundPath(0, 400, -300, 100)?.x).toBeLessThan(-300 - NODE_WIDTH / 2);
});
