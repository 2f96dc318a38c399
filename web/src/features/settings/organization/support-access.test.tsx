import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { SupportAccess } from "./support-access";

const PATH = "/api/v1/organizations/support-access";

it("allows changes by superusers only when switched on", async () => {
  const server = new FakeServer();
  server.on(`GET ${PATH}`, { body: { may_write: false } });
  server.on(`PUT ${PATH}`, { body: { may_write: true } });
  const { user } = await renderPart(<SupportAccess />, { server });
  const control = await screen.findByRole("switch", { name: "Let superusers make changes" });
  expect(control).toHaveProperty("checked", false);
  await user.click(control);
  await waitFor(() => expect(control).toHaveProperty("checked", true));
  expect(server.sent).toEqual([{ route: `PUT ${PATH}`, body: { may_write: true } }]);
});
