import { describe, expect, it } from "vitest";
import { parse } from "../../../graph/definition";
import type { NodeSpec } from "../../../graph/specs";
import { ConnectionError, errorFrom } from "../../../lib/api/errors";
import { savingProblem } from "./saving-problem";

const GRAPH = parse({
  nodes: [
    { id: "a", type: "agentNode", data: { name: "Greeting" } },
    { id: "b", type: "endCall", data: { name: "Goodbye" } },
  ],
  edges: [{ id: "w", source: "a", target: "b", data: { label: "done" } }],
});
const SPECS = new Map([
  [
    "agentNode",
    { name: "agentNode", properties: [{ name: "prompt", display_name: "What it asks" }] } as unknown as NodeSpec,
  ],
]);

const said = (...problems: [(string | number)[], string, string?, number?][]) =>
  savingProblem(
    errorFrom(422, {
      detail: problems.map(([loc, msg, type, limit]) => ({ loc: ["body", ...loc], msg, type, limit })),
    }),
    GRAPH,
    SPECS,
  );

describe("why a draft was not saved", () => {
  it("names the step, or the edge, and the field's label", () => {
    expect(said([["workflow_definition", "nodes", 0, "data", "prompt"], "Field required", "missing"])).toBe(
      "“Greeting”, What it asks is required.",
    );
    expect(
      said([["workflow_definition", "nodes", 7, "data", "say"], "Input should be a valid string", "string_type"]),
    ).toBe("Step 8, Say must be text.");
    expect(said([["workflow_definition", "edges", 0, "data", "label"], "too long"])).toBe(
      "“Greeting → Goodbye (done)”, Label: Too long.",
    );
  });

  it("names the setting", () => {
    expect(
      said([
        ["workflow_configurations", "max_call_duration"],
        "Input should be less than or equal to 1200",
        "less_than_equal",
        1200,
      ]),
    ).toBe("Settings, Maximum call duration must be less than or equal to 1200.");
    expect(said([["workflow_configurations", "models", "tts", "speed"], "not that fast"])).toBe(
      "Settings, voice: Speed: Not that fast.",
    );
    const refused = errorFrom(422, {
      detail: "models.llm.model 'x' is not one of openai's: y.",
      code: "unknown_model",
      field: "models.llm.model",
    });
    expect(savingProblem(refused, GRAPH, SPECS)).toBe("Settings, language model: Model 'x' is not one of openai's: y.");
  });

  it("keeps what is about the whole, and every other failure", () => {
    expect(said([["workflow_definition"], "At most 1 MB of JSON can be stored here"])).toBe(
      "At most 1 MB of JSON can be stored here.",
    );
    expect(savingProblem(new ConnectionError(), GRAPH, SPECS)).toBe(
      "Cannot reach the server. Check that it is running. Retrying every few seconds.",
    );
    expect(savingProblem(errorFrom(503, {}), GRAPH, SPECS)).toBe(
      "Server error (503). See the server log for details. Retrying every few seconds.",
    );
  });
});
