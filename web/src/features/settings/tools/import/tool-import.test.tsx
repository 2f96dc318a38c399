import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../../testing/render";
import { ToolForm } from "../tool-form";
import type { ImportedRequest } from "./imported";
import { ToolImport } from "./tool-import";

const DOCUMENT = JSON.stringify({
  openapi: "3.0.0",
  servers: [{ url: "https://x.example" }],
  paths: { "/orders": { get: { summary: "Lists orders" }, post: { summary: "Makes an order" } } },
});

async function paste(text: string) {
  fireEvent.change(await screen.findByRole("textbox", { name: /^Paste a cURL/ }), { target: { value: text } });
  fireEvent.click(screen.getByRole("button", { name: "Fill in the form" }));
}

async function renderImport() {
  const filled: ImportedRequest["part"][] = [];
  const { user } = await renderPart(<ToolImport onFill={(part) => filled.push(part)} />);
  return { user, filled };
}

it("fills the form from a command, and names the secret that it leaves out", async () => {
  await renderPart(<ToolForm tool={null} onClose={() => undefined} />);
  fireEvent.click(await screen.findByRole("button", { name: "Import from cURL or OpenAPI" }));
  await paste("curl https://x.example/orders/{id} -H 'X-Api-Key: s3' -H 'X-Shop: Oslo'");
  expect(await screen.findByText("The header “X-Api-Key” was left out. Choose a credential instead.")).toBeTruthy();
  const value = (name: RegExp) => screen.getByLabelText<HTMLInputElement>(name, { selector: "input, textarea" }).value;
  expect([value(/^Name( \*)?$/), value(/^URL/), value(/^Name of argument 1/), value(/^Headers/)]).toEqual([
    "get_orders",
    "https://x.example/orders/{{id}}",
    "id",
    "X-Shop: Oslo",
  ]);
});

it("lets choose among several operations", async () => {
  const { user, filled } = await renderImport();
  await paste(DOCUMENT);
  await user.click(await screen.findByRole("combobox", { name: "Operation" }));
  await user.click(await screen.findByRole("option", { name: "POST /orders · Makes an order" }));
  expect(await screen.findByText("The form below is filled in from POST /orders.")).toBeTruthy();
  expect(filled).toMatchObject([{ name: "post_orders", url: "https://x.example/orders", method: "POST" }]);
});

it("says what it cannot read, at the field, and fills in nothing", async () => {
  const { filled } = await renderImport();
  await paste("GET /orders");
  expect(await screen.findByText("This is neither a cURL command nor an OpenAPI document.")).toBeTruthy();
  expect(filled).toEqual([]);
});
