import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { EventsPanel } from "./events-panel";

it("names events in the words of the page", async () => {
  const events = ["node_entered", "edge_taken", "caller_said"].map((type, seq) => ({ seq, type, at_ms: 0, data: {} }));
  const { user } = await renderPart(<EventsPanel events={events as never} />);
  await screen.findByText("Events (3)");
  // Folded rows are drawn when the browser is idle, so they may not be there yet.
  await user.click(screen.getByRole("button", { name: "Show" }));
  const names = (await screen.findAllByRole("listitem")).map((row) => row.querySelector("b")?.textContent);
  expect(names).toEqual(["Step entered", "Transition taken", "Caller said"]);
});
