import { render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { StepTrail } from "./step-trail";

const EVENTS = [
  { type: "node_entered", at_ms: 0, data: { node_id: "a", name: "Greeting" } },
  { type: "agent_said", at_ms: 900, data: { text: "Hello" } },
  { type: "node_entered", at_ms: 8_200, data: { node_id: "b", name: "Where is the order" } },
];

it("lights the step that is heard, and leads to each", () => {
  const seek = vi.fn();
  const { rerender } = render(<StepTrail events={EVENTS} seconds={3} onSeek={seek} />);
  const lit = () => screen.getAllByRole("button").map((step) => step.getAttribute("aria-current"));
  expect(lit()).toEqual(["step", null]);
  rerender(<StepTrail events={EVENTS} seconds={8.3} onSeek={seek} />);
  expect(lit()).toEqual([null, "step"]);
  screen.getByRole("button", { name: "Where is the order, from 0:08" }).click();
  expect(seek).toHaveBeenCalledWith(8.2);
});
