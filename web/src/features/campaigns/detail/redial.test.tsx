import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import type { Campaign } from "../api";
import { Redial } from "./actions";

const REDIAL = "POST /api/v1/campaign/5/redial";
const CAMPAIGN = { id: 5, name: "Spring", progress: { outcomes: { busy: 3 } } } as unknown as Campaign;

it("sends the name and the outcomes to redial", async () => {
  const { user, server } = await renderPart(<Redial campaign={CAMPAIGN} onClose={() => undefined} />);
  server.on(REDIAL, { body: { id: 6 } });
  const name = await screen.findByRole("textbox", { name: /^Name/ });
  await user.clear(name);
  await user.type(name, "Second round");
  await user.click(screen.getByRole("checkbox", { name: "Voicemail (0)" }));
  await user.click(screen.getByRole("button", { name: "Create campaign" }));
  const body = { name: "Second round", redial_statuses: ["no_answer", "busy"] };
  await waitFor(() => expect(server.sent).toEqual([{ route: REDIAL, body }]));
});

it("shows at the outcomes that none is selected", async () => {
  const { user, server } = await renderPart(<Redial campaign={CAMPAIGN} onClose={() => undefined} />);
  server.refuse(
    REDIAL,
    ["redial_statuses"],
    "too_short",
    "List should have at least 1 item after validation, not 0",
    1,
  );
  for (const outcome of [/^No answer/, /^Busy/, /^Voicemail/])
    await user.click(await screen.findByRole("checkbox", { name: outcome }));
  await user.click(screen.getByRole("button", { name: "Create campaign" }));
  expect(await screen.findByText("Outcomes to redial is required.")).toBeTruthy();
});
