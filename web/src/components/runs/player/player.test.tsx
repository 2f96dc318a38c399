import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { PlayerBar } from "./player";

it("names who talks with the agent as the transcript does", async () => {
  const player = { audio: { current: null }, seconds: 0, total: 9, isPlaying: false };
  const bar = { player: player as never, address: "/r.wav", strip: undefined, hasFailed: true, download: null };
  await renderPart(<PlayerBar {...bar} party="contact" />);
  expect(screen.getByRole("list", { name: "Sides of the call" }).textContent).toBe("ContactAgent");
});
