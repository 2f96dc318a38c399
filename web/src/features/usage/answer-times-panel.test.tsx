import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { AnswerTimesPanel } from "./answer-times-panel";

const ROUTE = "GET /api/v1/organizations/usage/answer-times";
const NOTHING = { call_count: 0, turn_count: 0, p50_ms: null, p90_ms: null, p95_ms: null, p99_ms: null };
const FIGURES = { call_count: 12, turn_count: 1340, p50_ms: 820, p90_ms: 1150, p95_ms: 1400, p99_ms: 2600 };

function group(key: string, workflow_name: string | null = null, figures: object = FIGURES) {
  return { key, workflow_name, ...figures };
}

function serverWith(groups: Record<string, object[]>, total: object = FIGURES): FakeServer {
  const server = new FakeServer();
  for (const [group_by, found] of Object.entries(groups)) {
    server.on(`${ROUTE}?days=30&group_by=${group_by}`, { body: { group_by, total, groups: found } });
  }
  return server;
}

async function rowsOf(label: string): Promise<string[][]> {
  const [, ...rows] = within(await screen.findByRole("region", { name: label })).getAllByRole("row");
  return rows.map((row) =>
    within(row)
      .getAllByRole("cell")
      .map((cell) => cell.textContent),
  );
}

it("shows percentiles by agent, and a chart by day", async () => {
  const server = serverWith({
    day: [group("2026-11-24", null, NOTHING), group("2026-11-25")],
    agent: [group("3", "Front desk"), group("4")],
  });
  await renderPart(<AnswerTimesPanel days={30} />, { server });
  expect(await rowsOf("Answer time by agent")).toEqual([
    ["Front desk", "12", "1,340", "820 ms", "1.15 s", "1.40 s", "2.60 s"],
    ["Deleted agent", "12", "1,340", "820 ms", "1.15 s", "1.40 s", "2.60 s"],
  ]);
  expect(await screen.findByRole("figure", { name: "Answer time per day" })).toBeTruthy();
  expect(screen.getByRole("link", { name: "Front desk" }).getAttribute("href")).toContain("/agents/3");
});

it("groups by model, carrier and day", async () => {
  const server = serverWith({
    day: [group("2026-11-23"), group("2026-11-24", null, NOTHING), group("2026-11-25")],
    agent: [group("3", "Front desk")],
    model: [group("openai/gpt-5-mini"), group("builtin/rules"), group("")],
    carrier: [group("twilio")],
  });
  const { user } = await renderPart(<AnswerTimesPanel days={30} />, { server });
  const choose = async (name: string) => {
    await user.click(await screen.findByRole("radio", { name }));
    return (await rowsOf(`Answer time by ${name.toLowerCase()}`)).map((cells) => cells[0]);
  };
  expect(await choose("Model")).toEqual(["OpenAI gpt-5-mini", "Offline rules", "No language model"]);
  expect(await choose("Carrier")).toEqual(["Twilio"]);
  const days = await choose("Day");
  expect(days.map((day) => /\d+/.exec(day ?? "")?.[0])).toEqual(["25", "23"]);
});

it("says that there is nothing yet", async () => {
  await renderPart(<AnswerTimesPanel days={30} />, { server: serverWith({ day: [], agent: [] }, NOTHING) });
  expect(await screen.findByText("No recorded answers")).toBeTruthy();
  expect(screen.queryByRole("table")).toBeNull();
});
