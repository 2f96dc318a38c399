import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { chooseOption, renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import OrganizationSection from "./organization-section";

const PREFERENCES = "PUT /api/v1/organizations/preferences";
const RENAME = "PATCH /api/v1/organizations/current";

async function renderSection(role: "viewer" | "owner" = "owner") {
  const server = new FakeServer();
  signIn(server, role, {
    organization: { id: 1, name: "Acme" },
    preferences: { timezone: "UTC", test_phone_number: null },
    limits: { concurrent_calls: 10, source: "installation" },
  });
  const rendered = await renderPart(<OrganizationSection />, { server });
  const phone = await screen.findByRole("textbox", { name: "Test phone number" });
  const form = phone.closest("form");
  if (form === null) throw new Error("no form");
  return { ...rendered, phone, preferences: within(form) };
}

it("sends the preferences", async () => {
  const { user, server, phone, preferences } = await renderSection();
  server.on(PREFERENCES, { body: {} });
  await chooseOption(user, "Time zone", "Europe/Oslo");
  await user.type(phone, "+12015550101");
  await user.click(preferences.getByRole("button", { name: "Save" }));
  const body = { timezone: "Europe/Oslo", test_phone_number: "+12015550101" };
  await waitFor(() => expect(server.sent).toEqual([{ route: PREFERENCES, body }]));
});

it("shows at the phone number what is wrong with it", async () => {
  const { user, server, phone, preferences } = await renderSection();
  server.refuse(PREFERENCES, ["test_phone_number"], "value_error", "Value error, this is not a phone number");
  await user.type(phone, "12");
  await user.click(preferences.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("This is not a phone number.")).toBeTruthy();
  expect(phone.getAttribute("aria-invalid")).toBe("true");
});

it("sends a new name, and shows at the field what is wrong with it", async () => {
  const { user, server } = await renderSection();
  server.refuse(RENAME, ["name"], "string_too_short", "String should have at least 1 character", 1);
  const name = screen.getByRole("textbox", { name: "Name" });
  await user.clear(name);
  await user.click(screen.getAllByRole("button", { name: "Save" })[0] as HTMLElement);
  expect(await screen.findByText("Name is required.")).toBeTruthy();
  expect(server.sent).toEqual([{ route: RENAME, body: { name: "" } }]);
});

it("offers nothing to save to a viewer", async () => {
  await renderSection("viewer");
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
  expect(screen.getByText("You have read-only access.")).toBeTruthy();
});
