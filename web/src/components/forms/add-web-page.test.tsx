import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { AddWebPage } from "./add-web-page";

const ADD = "POST /api/v1/knowledge-base/pages";

async function open() {
  let isClosed = false;
  const rendered = await renderPart(<AddWebPage onClose={() => (isClosed = true)} />);
  const address = await screen.findByRole("textbox", { name: /^Address/ });
  return { ...rendered, address, isClosed: () => isClosed };
}

it("sends the address with the scheme that was left out", async () => {
  const { user, server, address, isClosed } = await open();
  server.on(ADD, { body: { name: "acme.com/hours" } });
  await user.type(address, "acme.com/hours");
  await user.click(screen.getByRole("button", { name: "Add page" }));
  await waitFor(() => expect(isClosed()).toBe(true));
  expect(server.sent).toEqual([{ route: ADD, body: { address: "https://acme.com/hours", retrieval_mode: "auto" } }]);
});

it("says at the address why it is refused", async () => {
  const { user, server, address } = await open();
  const body = { detail: "This address is not public.", code: "egress_refused", field: "address" };
  server.on(ADD, { status: 422, body });
  await user.type(address, "https://10.0.0.1");
  await user.click(screen.getByRole("button", { name: "Add page" }));
  expect(await screen.findByText("This address is not public.")).toBeTruthy();
  expect(address.getAttribute("aria-invalid")).toBe("true");
});
