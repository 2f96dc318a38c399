import { expect, it } from "vitest";
import { inPageWords, readable } from "./readable";

it("says values without the marks of JSON, and names what stands for something", () => {
  const nameOf = (id: string) => ({ "c01-9f": "opening-hours.md" })[id];
  expect(readable(["c01-9f", "gone"], nameOf)).toBe("opening-hours.md\ngone");
  expect(
    readable([
      { name: "day", type: "string", prompt: "" },
      { name: "seats", type: "number" },
    ]),
  ).toBe("name: day, type: string\nname: seats, type: number");
  expect([
    readable(false),
    readable(0.5),
    readable(null),
    readable({ provider: "x", api_key: undefined, list: [1, 2] }),
  ]).toEqual(["No", "0.5", "", "provider: x, list: 1, 2"]);
});

it("says what the API says in the words of the page, and leaves names alone", () => {
  expect(inPageWords("Tools that the agent can use at this node.")).toBe("Tools that the agent can use at this step.");
  expect(inPageWords("Nodes after “Node 2” and its node")).toBe("Steps after “Node 2” and its step");
  expect(inPageWords("The tool name “edge” is already used at this node by an edge or another tool.")).toBe(
    "The tool name “edge” is already used at this step by a transition or another tool.",
  );
  expect(inPageWords("Edge references missing node 'x'.")).toBe("Transition references missing step 'x'.");
  expect(inPageWords("Nothing in this workflow sets {{workflow}}: a workflow has edges, workflow_id does not.")).toBe(
    "Nothing in this agent sets {{workflow}}: an agent has transitions, workflow_id does not.",
  );
});
