import { MantineProvider } from "@mantine/core";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { CallSparkline } from "./call-sparkline";
import { CallStrip } from "./call-strip";
import { describeStrip, groupMarks, heightsOf, stepColors, type Strip, ticksOf } from "./strip-shapes";

const STRIP: Strip = {
  seconds: 20,
  caller: [0, 255, 0, 64],
  agent: [255, 0, 255, 0],
  steps: [
    { node_id: "a", name: "Greeting", kind: "startCall", start_s: 0, end_s: 8.2 },
    { node_id: "b", name: "Where is the order", kind: "agentNode", start_s: 8.2, end_s: 20 },
  ],
  marks: [
    { kind: "not_understood", label: "", start_s: 6, end_s: 7.5, is_ok: null },
    { kind: "tool_call", label: "find_order", start_s: 12, end_s: 13, is_ok: false },
    { kind: "slow_answer", label: "", start_s: 12.1, end_s: 14.2, is_ok: null },
  ],
};

function show(seconds = 3) {
  const seek = vi.fn();
  const toggle = vi.fn();
  render(
    <MantineProvider env="test">
      <CallStrip strip={STRIP} seconds={seconds} total={20} onSeek={seek} onToggle={toggle} />
    </MantineProvider>,
  );
  return { seek, toggle };
}

it("lights the step that is heard, and leads to each", async () => {
  const { seek } = show(9);
  const steps = within(screen.getByRole("list", { name: "Steps of the call" }));
  expect(steps.getAllByRole("button").map((step) => step.getAttribute("aria-current"))).toEqual([null, "step"]);
  await userEvent.click(steps.getByRole("button", { name: "Where is the order, from 0:08" }));
  expect(seek).toHaveBeenCalledWith(8.2);
});

it("plays a mark with what led to it", async () => {
  const { seek } = show();
  const marks = within(screen.getByRole("list", { name: "Marks of the call" }));
  await userEvent.click(marks.getByRole("button", { name: /^\d+ marks: 0:06 Not understood/ }));
  expect(seek).toHaveBeenCalledWith(5.5);
});

it("is moved and played with the keyboard", async () => {
  const { seek, toggle } = show();
  screen.getByRole("slider", { name: "Position in the recording" }).focus();
  await userEvent.keyboard("{ArrowRight}{End}{ArrowLeft} ");
  expect(seek.mock.calls).toEqual([[8], [20], [0]]);
  expect(toggle).toHaveBeenCalledOnce();
});

it("says in a row of a list what it shows", () => {
  render(<CallSparkline strip={STRIP} />);
  expect(screen.getByRole("img", { name: "0:20, 2 steps, 1 not understood, 1 slow answer" })).toBeTruthy();
  expect(describeStrip({ ...STRIP, steps: [], marks: [] })).toBe("0:20");
});

it("puts marks together that would cover each other", () => {
  const groups = groupMarks(STRIP.marks, 20, 0.1);
  expect(groups.map((group) => [group.share, group.marks.length])).toEqual([
    [0.3, 1],
    [0.6, 2],
  ]);
  expect(groupMarks(STRIP.marks, 0, 0.1)).toEqual([]);
});

it("draws the loudest of what a bar stands for, and colors a step alike when it comes again", () => {
  expect(heightsOf([0, 200, 0, 50], 2, 200)).toEqual([1, 0.25]);
  expect(heightsOf([], 9, 60)).toEqual([]);
  expect(stepColors([{ node_id: "a" }, { node_id: "b" }, { node_id: "a" }])).toEqual([0, 1, 0]);
  expect(ticksOf(52, 12)).toEqual([0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50]);
  expect(ticksOf(52, 12, 0.05)).toEqual([0, 5, 10, 15, 20, 25, 30, 35, 40, 45]);
  expect(ticksOf(0.5, 12, 2)).toEqual([0]);
});
