import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import type { Campaign } from "../api";
import { ContactsPanel } from "./contacts-panel";

const CAMPAIGN = { id: 3, workflow_id: 1, status: "completed", progress: { completed: 1 } } as unknown as Campaign;
const CONTACT = {
  id: 1,
  row_number: 2,
  phone_number: "+12015550101",
  state: "done",
  outcome: "busy",
  variables: { first_name: "Ann", appointment: "Tuesday at ten", note: "" },
  attempts: 1,
  run_id: null,
  result: null,
  is_success: null,
  reason: null,
  done_at: null,
};

it("names the values of a contact", async () => {
  const server = new FakeServer()
    .on("GET /api/v1/campaign/3/contacts", {
      body: { contacts: [CONTACT], page: 1, total_pages: 1, total_count: 1 },
    })
    .on("GET /api/v1/campaign/3/results", { body: { results: [] } });
  await renderPart(<ContactsPanel campaign={CAMPAIGN} />, { server });
  expect(await screen.findByText("First name: Ann · Appointment: Tuesday at ten")).toBeTruthy();
});

it("shows what a call to a contact sounded like, where one was heard", async () => {
  const contacts = [
    { ...CONTACT, outcome: "answered", run_id: 8 },
    { ...CONTACT, id: 2, phone_number: "+12015550102", run_id: 9 },
  ];
  const strip = { workflow_run_id: 8, seconds: 12, caller: [0, 40], agent: [30, 0], steps: [], marks: [] };
  const server = new FakeServer()
    .on("GET /api/v1/campaign/3/contacts", { body: { contacts, page: 1, total_pages: 1, total_count: 2 } })
    .on("GET /api/v1/campaign/3/results", { body: { results: [] } })
    .on("GET /api/v1/organizations/usage/strips", { body: { strips: [strip], pending: [] } });
  await renderPart(<ContactsPanel campaign={CAMPAIGN} />, { server });
  const heard = (await screen.findByRole("link", { name: "Latest call to +12015550101" })).closest("tr");
  await waitFor(() => expect(heard?.querySelector("[role=img]")).toBeTruthy());
  const busy = screen.getByRole("link", { name: "Latest call to +12015550102" }).closest("tr");
  expect(busy?.querySelector("[role=img], [data-empty]")).toBeNull();
});
