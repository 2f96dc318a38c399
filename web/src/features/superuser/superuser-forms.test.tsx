import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { ActAs, AddCredit } from "./superuser-page";

const CREDIT = "POST /api/v1/superuser/organizations/3/credits";
const IMPERSONATE = "POST /api/v1/superuser/impersonate";
const ORGANIZATION = { id: 3, name: "Acme" } as Parameters<typeof AddCredit>[0]["organization"];

it("sends credit in cents", async () => {
  const { user, server } = await renderPart(<AddCredit organization={ORGANIZATION} onClose={() => undefined} />);
  server.on(CREDIT, { body: {} });
  await user.click(await screen.findByLabelText(/^Amount/));
  await user.paste("12.50");
  await user.type(screen.getByRole("textbox", { name: "Note" }), "Refund");
  await user.click(screen.getByRole("button", { name: "Add" }));
  await waitFor(() => expect(server.sent).toEqual([{ route: CREDIT, body: { cents: 1250, note: "Refund" } }]));
});

it("shows at the amount what is wrong with it", async () => {
  const { user, server } = await renderPart(<AddCredit organization={ORGANIZATION} onClose={() => undefined} />);
  server.refuse(CREDIT, ["cents"], "less_than_equal", "Input should be less than or equal to 1000", 1000);
  await user.click(await screen.findByRole("button", { name: "Add" }));
  expect(await screen.findByText("Amount must be less than or equal to 1000.")).toBeTruthy();
  expect(screen.getByLabelText(/^Amount/).getAttribute("aria-invalid")).toBe("true");
});

it("shows at the email address that no user has it", async () => {
  const { user, server } = await renderPart(<ActAs onClose={() => undefined} />);
  server.on(IMPERSONATE, { status: 404, body: { detail: "No such user.", code: "user_not_found" } });
  await user.type(await screen.findByLabelText(/^Email/), "ann@example.com");
  await user.click(screen.getByRole("button", { name: "Impersonate" }));
  expect(await screen.findByText("No such user.")).toBeTruthy();
  expect(screen.getByLabelText(/^Email/).getAttribute("aria-invalid")).toBe("true");
  expect(server.sent).toEqual([{ route: IMPERSONATE, body: { email: "ann@example.com" } }]);
});
