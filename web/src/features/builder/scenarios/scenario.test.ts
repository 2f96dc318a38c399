import { expect, it } from "vitest";
import { parse } from "../../../graph/definition";
import {
  faultSentence,
  issueAt,
  nameFrom,
  NEW_SCENARIO,
  otherIssues,
  turnsOf,
  valueAt,
  withField,
  withTurns,
} from "./scenario";

it("keeps what the form does not show", () => {
  const stored = { name: "a", caller: { turns: ["hi"], rules: [{ at: "x", say: "y" }] }, expect: { edges: ["e"] } };
  const changed = withField(withTurns(stored, [{ kind: "press", value: "1", reply: "" }]), "expect", "says", ["bye"]);
  expect(changed).toEqual({
    name: "a",
    caller: { turns: [{ press: "1" }], rules: [{ at: "x", say: "y" }] },
    expect: { edges: ["e"], says: ["bye"] },
  });
  expect(withField(changed, "expect", "says", [])["expect"]).toEqual({ edges: ["e"] });
});

it("reads and writes every kind of turn", () => {
  const turns = ["hi", { say: "48", agent_says: "van" }, { press: "1#" }, { silence_s: 4 }, { hang_up: true }];
  const scenario = { ...NEW_SCENARIO, caller: { turns } };
  expect(turnsOf(scenario).map(({ kind }) => kind)).toEqual(["say", "say", "press", "silence_s", "hang_up"]);
  expect(valueAt(withTurns(scenario, turnsOf(scenario)), "caller", "turns")).toEqual(turns);
});

it("makes a name that no other scenario has", () => {
  expect(nameFrom(" Asks for a Day! ", [])).toBe("asks-for-a-day");
  expect(nameFrom("Asks for a day", ["asks-for-a-day", "asks-for-a-day-2"])).toBe("asks-for-a-day-3");
  expect(nameFrom("…", [])).toBe("scenario");
});

it("puts an issue at its field, and the others beside the form", () => {
  const issues = [
    { path: "scenarios[0].caller.turns[1].say", message: "string is too long" },
    { path: "scenarios[0].documents.x", message: "it is wrong" },
    { path: "scenarios[0].expect", message: "a scenario must expect something" },
  ];
  expect(issueAt(issues, "caller.turns.1")).toBe("String is too long.");
  expect(issueAt(issues, "caller.turns.10")).toBeUndefined();
  expect(issueAt(issues, "caller")).toBeUndefined();
  expect(issueAt(issues, "expect")).toBe("A scenario must expect something.");
  expect(otherIssues(issues, ["caller.turns.1", "expect"])).toEqual(["documents.x: it is wrong."]);
});

it("says what did not hold with the names of the graph", () => {
  const graph = parse({
    nodes: [{ id: "n1", type: "agentNode", data: { name: "Ask" } }],
    edges: [{ id: "e1", source: "n1", target: "n1", data: { label: "Again" } }],
  });
  expect(faultSentence({ message: "the edge e1 was taken" }, graph)).toBe("The transition “Again” was taken.");
  expect(faultSentence({ message: "the conversation ended at n1, and did not end at n2" }, graph)).toBe(
    "The conversation ended at “Ask”, and did not end at n2.",
  );
});
