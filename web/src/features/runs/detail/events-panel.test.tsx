import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { EventsPanel } from "./events-panel";

it("names events in the words of the page", async () => {
  const events = ["node_entered", "edge_taken", "caller_said"].map((type, seq) => ({ seq, type, at_ms: 0, data: {} }));
  const { user } = await renderPart(<EventsPanel events={events as never} onSeek={null} />);
  await screen.findByText("Events (3)");
  // Folded rows are drawn when the browser is idle, so they may not be there yet.
  await user.click(screen.getByRole("button", { name: "Show" }));
  const names = (await screen.findAllByRole("listitem")).map((row) => row.querySelector("b")?.textContent);
  expect(names).toEqual(["Step entered", "Transition taken", "Caller said"]);
});

it("filters events by any words, and plays the recording from one", async () => {
  const events = [
    { seq: 1, type: "tool_called", at_ms: 1500, data: { tool: "find_order", warnings: [] } },
    { seq: 2, type: "caller_said", at_ms: 2000, data: { text: "My order" } },
  ];
  const heard: number[] = [];
  const { user } = await renderPart(
    <EventsPanel events={events as never} onSeek={(seconds) => void heard.push(seconds)} />,
  );
  await user.click(await screen.findByRole("button", { name: "Show" }));
  await user.type(await screen.findByRole("textbox", { name: "Filter events" }), "TOOL order");
  const rows = await screen.findAllByRole("listitem");
  expect(rows.map((row) => row.querySelector("code")?.textContent)).toEqual(["tool: find_order"]);
  await user.click(screen.getByRole("button", { name: "1.50 s" }));
  expect(heard).toEqual([1.5]);
  await user.type(screen.getByRole("textbox", { name: "Filter events" }), " nothing");
  expect(await screen.findByText("No matching events.")).toBeTruthy();
});
