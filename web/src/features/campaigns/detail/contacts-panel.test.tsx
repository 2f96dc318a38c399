import { screen } from "@testing-library/react";
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
