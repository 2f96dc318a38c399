import { expect, it } from "vitest";
import { asSteps, readable } from "./readable";

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

it("calls steps what the API calls nodes, and leaves names alone", () => {
  expect(asSteps("Tools that the agent can use at this node.")).toBe("Tools that the agent can use at this step.");
  expect(asSteps("Nodes after “Node 2” and its node")).toBe("Steps after “Node 2” and its step");
});
