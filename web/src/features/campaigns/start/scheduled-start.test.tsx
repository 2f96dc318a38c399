import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { momentOf, wallTimeIn } from "../../../lib/format/zoned-time";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import type { Role } from "../../../lib/api/types";
import type { Campaign } from "../api";
import { ScheduledStart, StartLater } from "./scheduled-start";
import { firstStart, startProblem } from "./start-time";

const PATCH = "PATCH /api/v1/campaign/5";
const ZONE = "America/New_York";
const TOMORROW = firstStart(ZONE);
const STARTS_AT = momentOf(TOMORROW, ZONE)?.toISOString() ?? "";

const draft = (values: Partial<Campaign>) =>
  ({ id: 5, status: "draft", calling_hours: { timezone: ZONE, slots: [] }, ...values }) as unknown as Campaign;

async function renderStart(values: Partial<Campaign>, role: Role = "member") {
  const server = new FakeServer().on(PATCH, { body: draft(values) });
  signIn(server, role, { preferences: { timezone: "Europe/Oslo" } });
  const campaign = draft(values);
  return renderPart(
    <>
      <ScheduledStart campaign={campaign} />
      <StartLater campaign={campaign} />
    </>,
    { server },
  );
}

it("says when a draft starts and in which zone, and calls it off", async () => {
  const { user, server } = await renderStart({ starts_at: STARTS_AT });
  expect(await screen.findByText(/^Starts .*9:00.* \(America\/New York\)$/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Start later" })).toBeNull();
  await user.click(await screen.findByRole("button", { name: "Cancel start" }));
  await waitFor(() => expect(server.sent).toEqual([{ route: PATCH, body: { starts_at: null } }]));
});

it("changes the time on the clocks of the zone", async () => {
  const { user, server } = await renderStart({ starts_at: STARTS_AT });
  await user.click(await screen.findByRole("button", { name: "Change start" }));
  expect(await screen.findByLabelText("Date")).toHaveProperty("value", TOMORROW.day);
  fireEvent.change(screen.getByLabelText("Time"), { target: { value: "14:30" } });
  await user.click(screen.getByRole("button", { name: "Save" }));
  const starts_at = momentOf({ ...TOMORROW, time: "14:30" }, ZONE)?.toISOString();
  await waitFor(() => expect(server.sent).toEqual([{ route: PATCH, body: { starts_at } }]));
});

it("sets a time for a draft without hours in the organization's zone, and shows a refusal at it", async () => {
  const { user, server } = await renderStart({ calling_hours: null });
  server.on(PATCH, {
    status: 422,
    body: { detail: "The start time is in the past. Enter a later one.", code: "start_in_past", field: "starts_at" },
  });
  await user.click(await screen.findByRole("button", { name: "Start later" }));
  expect(await screen.findByText("Time zone: Europe/Oslo")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("The start time is in the past. Enter a later one.")).toBeTruthy();
  expect(screen.getByRole("dialog")).toBeTruthy();
});

it("says why a draft did not start", async () => {
  const { user, server } = await renderStart({
    starts_at: "2026-01-05T14:00:00Z",
    start_problem: "overdue: Too late.",
  });
  expect(await screen.findByText(/^Did not start /)).toBeTruthy();
  expect(screen.getByText("Overdue: Too late.")).toBeTruthy();
  await user.click(await screen.findByRole("button", { name: "Set another time" }));
  expect(await screen.findByLabelText("Date")).toHaveProperty("value", TOMORROW.day);
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  await user.click(screen.getByRole("button", { name: "Dismiss" }));
  await waitFor(() => expect(server.sent).toEqual([{ route: PATCH, body: { starts_at: null } }]));
});

it("shows viewers the time only", async () => {
  await renderStart({ starts_at: STARTS_AT }, "viewer");
  expect(await screen.findByText(/^Starts /)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Cancel start" })).toBeNull();
});

it("takes times within 60 days from now", () => {
  const now = new Date("2026-03-01T12:00:00Z");
  const at = (days: number) => wallTimeIn(new Date(now.getTime() + days * 86_400_000), ZONE);
  expect(startProblem(at(1), ZONE, now)).toBeNull();
  expect(startProblem(at(60), ZONE, now)).toBeNull();
  expect(startProblem(at(61), ZONE, now)).toBe("Enter a time within 60 days.");
  expect(startProblem(at(0), ZONE, now)).toBe("This time is in the past. Enter a later one.");
  expect(startProblem({ day: "2026-03-08", time: "02:30" }, ZONE, now)).toContain("skip");
  expect(startProblem({ day: "", time: "09:00" }, ZONE, now)).toBe("Enter a date and a time.");
});
