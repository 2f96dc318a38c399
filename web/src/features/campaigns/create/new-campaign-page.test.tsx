import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { chooseOption, renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { stubUploads } from "../../../testing/uploads";
import { LOCAL_ZONE } from "../rules/draft";
import { firstStart, startsAtOf } from "../start/start-time";
import { NewCampaignPage } from "./new-campaign-page";

const agent = (id: number, name: string, published: number | null) => ({
  id,
  name,
  published_version_number: published,
});

async function openWizard({ search = "" } = {}) {
  stubUploads(200);
  const server = new FakeServer()
    .on("GET /api/v1/workflow/fetch", { body: [agent(1, "Reminder", 2), agent(2, "Survey", null)] })
    .on("GET /api/v1/workflow/summary", { body: [agent(1, "Reminder", 2), agent(2, "Survey", null)] })
    .on("GET /api/v1/organizations/telephony-configs", { body: { configurations: [] } })
    .on("POST /api/v1/s3/presigned-upload-url", {
      body: { upload_url: "http://localhost/api/v1/s3/files/f1?token=t", file_key: "f1" },
    });
  signIn(server, "member", { limits: { concurrent_calls: 10 } });
  return renderPart(<NewCampaignPage />, { server, path: "/campaigns/new", search });
}

async function fillFirstStep(user: Awaited<ReturnType<typeof openWizard>>["user"]) {
  await user.type(await screen.findByRole("textbox", { name: /^Name/ }), "May");
  await chooseOption(user, /^Agent/, "Reminder");
  const file = new File(["phone_number\n+12015550101\n"], "people.csv", { type: "text/csv" });
  await user.upload(screen.getByLabelText("Contact file"), file);
  await waitFor(() => expect(screen.getByRole("button", { name: "Next" })).toHaveProperty("disabled", false));
}

it("goes one step back with the browser, and keeps what was entered", async () => {
  const { user, history } = await openWizard();
  await fillFirstStep(user);
  await user.click(screen.getByRole("button", { name: "Next" }));
  await user.click(await screen.findByRole("button", { name: "Next" }));
  await screen.findByRole("button", { name: "Create campaign" });
  history.back();
  await screen.findByRole("button", { name: "Next" });
  expect(history.location.search).toBe("?step=2");
  await user.click(screen.getByRole("button", { name: "Back" }));
  expect(await screen.findByDisplayValue("May")).toBeTruthy();
  expect(history.location.search).toBe("");
});

it("asks before input is lost", async () => {
  const { user, history } = await openWizard();
  await user.type(await screen.findByRole("textbox", { name: /^Name/ }), "May");
  await user.click(screen.getByRole("link", { name: "← Campaigns" }));
  await user.click(await screen.findByRole("button", { name: "Cancel" }));
  expect(history.location.pathname).toBe("/campaigns/new");
  await user.click(screen.getByRole("link", { name: "← Campaigns" }));
  await user.click(await screen.findByRole("button", { name: "Leave" }));
  await waitFor(() => expect(history.location.pathname).toBe("/campaigns"));
});

it("leaves an empty form without a question, and begins with the first step", async () => {
  const { user, history } = await openWizard({ search: "?step=3" });
  expect(await screen.findByRole("textbox", { name: /^Name/ })).toBeTruthy();
  await waitFor(() => expect(history.location.search).toBe(""));
  await user.click(screen.getByRole("link", { name: "← Campaigns" }));
  await waitFor(() => expect(history.location.pathname).toBe("/campaigns"));
});

it("says at once that an agent has no published version, and where to publish it", async () => {
  const { user } = await openWizard();
  await screen.findByRole("textbox", { name: /^Name/ });
  await chooseOption(user, /^Agent/, "Survey (not published)");
  expect((await screen.findByRole("link", { name: "Open it to publish it" })).getAttribute("href")).toBe("/agents/2");
  expect(screen.getByText(/^Still needed:.*an agent that is published/)).toBeTruthy();
});

it("creates a campaign that starts at a date and time, in the zone of its hours", async () => {
  const { user, server } = await openWizard();
  server.on("POST /api/v1/campaign/create", { body: { id: 7 } });
  await fillFirstStep(user);
  await user.click(screen.getByRole("button", { name: "Next" }));
  await user.click(await screen.findByRole("button", { name: "Next" }));
  await user.click(await screen.findByRole("radio", { name: "At a date and time" }));
  fireEvent.change(screen.getByLabelText("Date"), { target: { value: "2020-01-01" } });
  expect(screen.getByText("This time is in the past. Enter a later one.")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Create campaign" })).toHaveProperty("disabled", true);
  const start = firstStart(LOCAL_ZONE);
  fireEvent.change(screen.getByLabelText("Date"), { target: { value: start.day } });
  fireEvent.change(screen.getByLabelText("Time"), { target: { value: "10:15" } });
  await user.click(screen.getByRole("button", { name: "Create campaign" }));
  const starts_at = startsAtOf({ ...start, time: "10:15" }, LOCAL_ZONE);
  await waitFor(() => expect(server.sent.at(-1)?.body).toMatchObject({ name: "May", starts_at }));
});
