import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { SearchPanel } from "./search-panel";

it("does not repeat a document's title before the heading of a passage", async () => {
  const hit = { document_id: 1, name: "Office guide", page: null, text: "A will costs 600." };
  const server = new FakeServer().on("POST /api/v1/knowledge-base/search", {
    body: [
      { ...hit, heading: "Office guide > Fees" },
      { ...hit, text: "Ask.", heading: "Office guide" },
    ],
  });
  signIn(server, "member");
  const { user } = await renderPart(<SearchPanel isEmpty={false} />, { server });
  await user.type(await screen.findByPlaceholderText("Ask a question"), "will");
  await user.click(screen.getByRole("button", { name: "Search" }));
  expect(await screen.findByText("Fees")).toBeTruthy();
  expect(screen.getAllByText("Office guide")).toHaveLength(2);
});
