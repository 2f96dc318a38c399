import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { chooseOption, renderPart } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { QuickConnect } from "./quick-connect";

const CONNECT = "POST /api/v1/telephony/quick-connect";

function shop(isSimulated = true): FakeServer {
  return new FakeServer()
    .on("GET /api/v1/telephony/available-numbers", {
      body: {
        numbers: [{ phone_number: "+12015550150", friendly_name: "(201) 555-0150", monthly_cost_cents: 100 }],
        is_simulated: isSimulated,
      },
    })
    .on("GET /api/v1/workflow/summary", { body: [{ id: 4, name: "Front desk" }] });
}

it("sends the number that was chosen, and shows it", async () => {
  const { user, server } = await renderPart(<QuickConnect onClose={() => undefined} />, { server: shop() });
  server.on(CONNECT, { body: { phone_number: "+12015550150", instructions: null, workflow_id: null } });
  await user.type(await screen.findByRole("textbox", { name: /^Area code/ }), "201");
  await user.click(await screen.findByRole("radio", { name: /555-0150/ }));
  expect(await screen.findByText("Simulated numbers")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Add number" }));
  const body = { mode: "new", country: "US", area_code: "201", phone_number: "+12015550150" };
  await waitFor(() => expect(server.sent).toEqual([{ route: CONNECT, body }]));
  expect(await screen.findByText("Number added")).toBeTruthy();
  expect(screen.getByText("No agent answers it yet. Choose one in the list of numbers.")).toBeTruthy();
});

it("buys only what has a price", async () => {
  await renderPart(<QuickConnect onClose={() => undefined} />, { server: shop(false) });
  expect(await screen.findByRole("button", { name: "Buy number" })).toBeTruthy();
});

it("sends a number of one's own, and shows at the field what is wrong with it", async () => {
  const { user, server } = await renderPart(<QuickConnect onClose={() => undefined} />, { server: shop() });
  server.refuse(CONNECT, ["existing_number"], "value_error", "Value error, this is not a phone number");
  await user.click(await screen.findByLabelText("Use my own number"));
  await user.type(await screen.findByRole("textbox", { name: /^Your number/ }), "12");
  await chooseOption(user, "Answered by", "Front desk");
  await user.click(screen.getByRole("button", { name: "Get forwarding number" }));
  const body = { mode: "forward", country: "US", existing_number: "12", workflow_id: 4 };
  await waitFor(() => expect(server.sent).toEqual([{ route: CONNECT, body }]));
  expect(await screen.findByText("This is not a phone number.")).toBeTruthy();
  expect(screen.getByRole("textbox", { name: /^Your number/ }).getAttribute("aria-invalid")).toBe("true");
});
