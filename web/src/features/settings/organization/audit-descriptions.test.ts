import { expect, it } from "vitest";
import { actionWords, detailWords, entryWords, searchedFor, targetWords } from "./audit-descriptions";

it("says what was done, and to what", () => {
  expect([
    actionWords("phone_number.created"),
    actionWords("user.logged_in"),
    actionWords("webhook.secret_rotated"),
  ]).toEqual(["Number created", "Signed in", "Webhook secret rotated"]);
  expect([
    targetWords("telephony_config:4"),
    targetWords("tool:ec622964-3633-4ac7-956a-fddccbcdd4af"),
    targetWords("api_key:1"),
    targetWords("do_not_call"),
  ]).toEqual(["carrier account 4", "tool ec622964", "API key 1", ""]);
});

it("reads as a sentence with what was read or played", () => {
  const words = (action: string, target: string) => Object.values(entryWords(action, target)).join(" ").trim();
  expect([
    words("scenarios.play_ordered", "workflow:5"),
    words("run_events.read", "run:32"),
    words("telephony_config.checked", "telephony_config:1"),
    words("workflow.published", "workflow:3"),
    words("api_key.created", "api_key:1"),
    words("run.read", "run:2"),
    words("user.followed_link", "user:1"),
  ]).toEqual([
    "Scenario run started · agent 5",
    "Opened the events of run 32",
    "Carrier credentials checked · carrier account 1",
    "Agent 3 published",
    "API key 1 created",
    "Opened run 2",
    "Signed in with a link · user 1",
  ]);
  expect(detailWords({ by: "signed_link" })).toEqual([]);
  expect(detailWords({ by: "command line" })).toEqual([{ name: "by", value: "command line" }]);
  const path = { path: "/api/v1/workflow/5/runs/32/events" };
  expect(detailWords(path, "run_events.read")).toEqual([]);
  expect(detailWords(path, "support.read")).toHaveLength(1);
  expect(detailWords({ fields: ["definition", "name"] })).toEqual([
    { name: "changed", value: "steps and transitions, name" },
  ]);
});

it("finds by the words that are shown", () => {
  expect([searchedFor("Carrier account"), searchedFor("secret rotated"), searchedFor("webhook")]).toEqual([
    "telephony_config",
    "secret_rotated",
    "webhook",
  ]);
});

it("says what an entry has besides in words", () => {
  const data = {
    fields: ["daily_limit_cents", "time_zone"],
    name: "spring_recall",
    workflow_ids: [4, 1205],
    count: 1205,
    must_consent: false,
    note: null,
    states: { completed: 2, failed: 1 },
    removed: [],
  };
  expect(detailWords(data).map(({ name, value }) => `${name}: ${value}`)).toEqual([
    "changed: daily limit cents, time zone",
    "name: spring_recall",
    "agents: 4, 1205",
    "count: 1,205",
    "must consent: no",
    "note: none",
    "states: completed 2, failed 1",
  ]);
});
