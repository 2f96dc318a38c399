import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { ResultsPanel } from "./results-panel";

it("counts those who answered without a result, so that shares add up", async () => {
  const server = new FakeServer().on("GET /api/v1/campaign/4/results", {
    body: {
      campaign_id: 4,
      is_defined: true,
      answered_without_result: 1,
      results: [{ name: "Booked", contacts: 1, is_success: true }],
    },
  });
  await renderPart(<ResultsPanel campaign={{ id: 4, status: "completed" } as never} done={5} />, { server });
  expect(await screen.findByText("50% of answered successful")).toBeTruthy();
  expect(screen.getAllByText("50% of answered")).toHaveLength(2);
  expect(screen.getByLabelText("No result: 1")).toBeTruthy();
});
