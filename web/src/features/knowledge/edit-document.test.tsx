import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { chooseOption, renderPart } from "../../testing/render";
import type { Document } from "./api";
import { EditDocument } from "./document-table";

const SAVE = "PATCH /api/v1/knowledge-base/d1";
const DOCUMENT = { id: "d1", name: "Prices", retrieval_mode: "auto" } as unknown as Document;

it("sends the name and what agents receive", async () => {
  const { user, server } = await renderPart(<EditDocument document={DOCUMENT} onClose={() => undefined} />);
  server.on(SAVE, { body: {} });
  await user.type(await screen.findByRole("textbox", { name: /^Name/ }), " 2027");
  await chooseOption(user, "What agents receive", "Full text");
  await user.click(screen.getByRole("button", { name: "Save" }));
  const body = { name: "Prices 2027", retrieval_mode: "full_document" };
  await waitFor(() => expect(server.sent).toEqual([{ route: SAVE, body }]));
});

it("shows at the name that it is missing", async () => {
  const { user, server } = await renderPart(<EditDocument document={DOCUMENT} onClose={() => undefined} />);
  server.refuse(SAVE, ["name"], "string_too_short", "String should have at least 1 character", 1);
  const name = await screen.findByRole("textbox", { name: /^Name/ });
  await user.clear(name);
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("Name is required.")).toBeTruthy();
  expect(name.getAttribute("aria-invalid")).toBe("true");
});
