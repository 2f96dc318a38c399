import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import ToolsSection from "./tools-section";

it("asks for a required argument before a test is sent", async () => {
  const parameters = [{ name: "order_id", type: "string", description: "", required: true }];
  const tool = {
    ...{ tool_uuid: "t1", name: "find_order", description: "", category: "http_api", status: "active" },
    definition: { type: "http_api", config: { url: "https://example.com", method: "GET", parameters } },
    updated_at: "2026-11-29T10:00:00Z",
  };
  const server = new FakeServer().on("GET /api/v1/tools/", { body: [tool] });
  signIn(server, "member");
  const { user } = await renderPart(<ToolsSection />, { server });
  await user.click(await screen.findByRole("button", { name: /^Test/ }));
  await user.click(await screen.findByRole("button", { name: "Send request" }));
  expect(await screen.findByText("order_id is required.")).toBeTruthy();
  expect(server.sent).toEqual([]);
});
