import { screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { EMPTY_RUN } from "../../lib/live/live-run";
import { renderPart } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { SimulatePanel } from "./simulate-panel";
import type { Simulation } from "./use-simulation";

const RECORDING = "GET /api/v1/workflow/4/runs/7/recording";
const close = vi.fn(() => Promise.resolve());

function simulation(run: object): Simulation {
  const person = { number: "+12015550100", name: "Maria", about: "" };
  const nothing = () => undefined;
  return {
    person,
    runId: 7,
    run: { ...EMPTY_RUN, ...run },
    isStarting: false,
    error: null,
    call: nothing,
    hangUp: nothing,
    leave: nothing,
  };
}

const panel = (run: object) => <SimulatePanel simulation={simulation(run)} agentId={4} agentName="Front desk" />;

beforeEach(() => {
  close.mockClear();
  vi.stubGlobal(
    "AudioContext",
    class {
      close = close;
    },
  );
});

it("lets somebody listen to a call that was answered, until they have heard enough", async () => {
  const { user } = await renderPart(panel({ isAnswered: true }));
  await user.click(screen.getByRole("button", { name: "Listen to the call" }));
  expect(await screen.findByText("Connecting to the call’s audio…")).toBeTruthy();
  const stop = screen.getByRole("button", { name: "Stop listening" });
  expect(stop.getAttribute("aria-pressed")).toBe("true");
  await user.click(stop);
  expect(close).toHaveBeenCalledOnce();
  expect(screen.queryByText("Connecting to the call’s audio…")).toBeNull();
});

it("says when the sound cannot be loaded, and tries again", async () => {
  const server = new FakeServer().on(RECORDING, { status: 500, body: { detail: "No.", code: "error" } });
  const { user } = await renderPart(panel({ isAnswered: true }), { server });
  await user.click(screen.getByRole("button", { name: "Listen to the call" }));
  expect(await screen.findByText("The call’s audio could not be loaded. Try again.")).toBeTruthy();
  expect(close).toHaveBeenCalledOnce();
  expect(screen.getByRole("button", { name: "Listen to the call" })).toBeTruthy();
});

it("offers no sound before somebody has answered, and none of a call that is over", async () => {
  await renderPart(panel({}));
  expect(screen.queryByRole("button", { name: "Listen to the call" })).toBeNull();
  await renderPart(panel({ isAnswered: true, ended: { status: "completed", outcome: "answered", endReason: "x" } }));
  expect(screen.queryByRole("button", { name: "Listen to the call" })).toBeNull();
});
