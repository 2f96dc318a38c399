import { renderHook } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import type { Player } from "../../../components/runs/player/use-player";
import { FIRST_PART_S, useFirstPart } from "./first-part";

function listen(isWanted: boolean) {
  const play = vi.fn(() => Promise.resolve());
  const pause = vi.fn();
  const audio = { current: { play, pause } as unknown as HTMLAudioElement };
  const at = (seconds: number, isPlaying = true) =>
    ({ audio, seconds, isPlaying, total: 60, seek: vi.fn(), toggle: vi.fn() }) satisfies Player;
  const { rerender } = renderHook((player: Player) => useFirstPart(player, isWanted), { initialProps: at(0, false) });
  return { play, pause, playTo: (seconds: number) => rerender(at(seconds)) };
}

it("plays at once, and pauses once at the end of the first part", () => {
  const { play, pause, playTo } = listen(true);
  expect(play).toHaveBeenCalledTimes(1);
  playTo(FIRST_PART_S - 0.1);
  expect(pause).not.toHaveBeenCalled();
  playTo(FIRST_PART_S + 0.1);
  playTo(FIRST_PART_S + 0.2);
  playTo(FIRST_PART_S + 5);
  expect(pause).toHaveBeenCalledTimes(1);
});

it("goes on where somebody moved it to", () => {
  const { pause, playTo } = listen(true);
  playTo(FIRST_PART_S + 20);
  playTo(FIRST_PART_S);
  expect(pause).not.toHaveBeenCalled();
});

it("leaves a run alone that was opened to be read", () => {
  const { play, pause, playTo } = listen(false);
  playTo(FIRST_PART_S);
  expect([play, pause].map((call) => call.mock.calls.length)).toEqual([0, 0]);
});
