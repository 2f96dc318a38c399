import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { AddNumber } from "./add-number";

const ADD = "POST /api/v1/organizations/telephony-configs/7/phone-numbers";

it("sends a number that nothing answers yet", async () => {
  const { user, server } = await renderPart(<AddNumber accountId={7} onClose={() => undefined} />);
  server.on(ADD, { body: { address_normalized: "+12015550123", provider_sync: null } });
  await user.type(await screen.findByRole("textbox", { name: /^Number/ }), "+12015550123");
  await user.click(screen.getByRole("button", { name: "Add" }));
  const body = { address: "+12015550123", label: null, inbound_workflow_id: null };
  await waitFor(() => expect(server.sent).toEqual([{ route: ADD, body }]));
});

it("says at the number that it is taken", async () => {
  const { user, server } = await renderPart(<AddNumber accountId={7} onClose={() => undefined} />);
  server.on(ADD, { status: 409, body: { detail: "This number is taken.", code: "phone_number_taken" } });
  await user.click(await screen.findByRole("button", { name: "Add" }));
  expect(await screen.findByText("This number is taken.")).toBeTruthy();
  expect(screen.getByRole("textbox", { name: /^Number/ }).getAttribute("aria-invalid")).toBe("true");
});
