import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { ToolForm } from "./tool-form";

const SAVE = "POST /api/v1/tools/";

it("sends a request with its arguments", async () => {
  const { user, server } = await renderPart(<ToolForm tool={null} onClose={() => undefined} />);
  server.on(SAVE, { body: {} });
  await user.type(await screen.findByRole("textbox", { name: /^Name/ }), "find_order");
  await user.type(screen.getByRole("textbox", { name: /^URL/ }), "https://example.com/orders");
  await user.click(screen.getByRole("button", { name: "Add an argument" }));
  await user.type(screen.getByRole("textbox", { name: "Name of argument 1" }), "order_id");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(server.sent).toHaveLength(1));
  expect(server.sent[0]).toMatchObject({
    route: SAVE,
    body: {
      name: "find_order",
      description: null,
      category: "http_api",
      definition: { config: { url: "https://example.com/orders", parameters: [{ name: "order_id", type: "string" }] } },
    },
  });
});

it("says at the address, deep in the definition, what is wrong", async () => {
  const { user, server } = await renderPart(<ToolForm tool={null} onClose={() => undefined} />);
  server.refuse(SAVE, ["definition", "http_api", "config", "url"], "missing", "Field required");
  await user.click(await screen.findByRole("button", { name: "Save" }));
  expect(await screen.findByText("URL is required.")).toBeTruthy();
  expect(screen.getByRole("textbox", { name: /^URL/ }).getAttribute("aria-invalid")).toBe("true");
});

it("says which argument has no usable name, and what one is", async () => {
  const { user, server } = await renderPart(<ToolForm tool={null} onClose={() => undefined} />);
  const at = ["definition", "http_api", "config", "parameters", "0", "name"];
  server.refuse(SAVE, at, "string_pattern_mismatch", "String should match pattern");
  await user.click(await screen.findByRole("button", { name: "Add an argument" }));
  await user.type(screen.getByRole("textbox", { name: "Name of argument 1" }), "order id");
  await user.click(screen.getByRole("button", { name: "Save" }));
  const rule = "Use letters, digits, and underscores, as in order_id.";
  expect(await screen.findByText(`“order id” is no name for one. ${rule}`)).toBeTruthy();
  await user.clear(screen.getByRole("textbox", { name: "Name of argument 1" }));
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText(`Argument 1 has no name. ${rule}`)).toBeTruthy();
});

const TRY = "POST /api/v1/tools/test";

it("tries what is entered, and saves nothing", async () => {
  const { user, server } = await renderPart(<ToolForm tool={null} onClose={() => undefined} />);
  server.on(TRY, {
    body: { status: "success", status_code: 200, duration_ms: 12, data: { state: "sent" }, request_method: "GET" },
  });
  await user.type(await screen.findByRole("textbox", { name: /^URL/ }), "https://example.com/orders");
  await user.click(screen.getByRole("button", { name: "Add an argument" }));
  await user.type(screen.getByRole("textbox", { name: "Name of argument 1" }), "order_id");
  await user.click(screen.getByRole("button", { name: "Try it" }));
  await user.type(screen.getByRole("textbox", { name: /^order_id/ }), "7{Enter}");
  expect(await screen.findByText("Responded with 200 in 12 ms")).toBeTruthy();
  expect(server.sent).toHaveLength(1);
  expect(server.sent[0]).toMatchObject({
    route: TRY,
    body: {
      definition: { type: "http_api", config: { url: "https://example.com/orders" } },
      llm_params: { order_id: "7" },
    },
  });
});

it("says at its field what keeps a draft from being tried", async () => {
  const { user, server } = await renderPart(<ToolForm tool={null} onClose={() => undefined} />);
  server.refuse(TRY, ["definition", "http_api", "config", "url"], "missing", "Field required");
  await user.click(await screen.findByRole("button", { name: "Try it" }));
  await user.click(screen.getByRole("button", { name: "Send request" }));
  expect(await screen.findByText("URL is required.")).toBeTruthy();
});
