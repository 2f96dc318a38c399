import { expect, it } from "vitest";
import { readAgentPlace } from "./agent-place";

it("reads a step and a run from an address", () => {
  expect(readAgentPlace({ step: 3, scenario_from: 20 })).toEqual({ step: "3", scenario_from: 20 });
  expect(readAgentPlace({ step: "ask" })).toEqual({ step: "ask" });
});

it.each([{ step: "" }, { scenario_from: "20" }, { scenario_from: -1 }, { scenario_from: 1.5 }, { other: 1 }])(
  "leaves out what leads nowhere: %o",
  (raw) => {
    expect(readAgentPlace(raw)).toEqual({});
  },
);
