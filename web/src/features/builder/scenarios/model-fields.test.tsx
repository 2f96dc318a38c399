import { screen } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";
import { parse } from "../../../graph/definition";
import type { Agent } from "../../../lib/api/types";
import { renderPart } from "../../../testing/render";
import { type Editor, EditorProvider } from "../state/editor";
import { CallerFields } from "./caller-fields";
import { ExpectationFields } from "./expectation-fields";
import { ModelVerdicts } from "./model-fields";
import type { PlainScenario, ScenarioIssue } from "./scenario";

const PLAIN: PlainScenario = { name: "ada", caller: { turns: ["Hello"] }, expect: { end: "bye" } };

async function renderFields(scenario: PlainScenario, issues: ScenarioIssue[] = []) {
  let current = scenario;
  function Fields() {
    const [shown, setShown] = useState(scenario);
    current = shown;
    const props = { scenario: shown, issues, onChange: setShown };
    return (
      <>
        <CallerFields {...props} />
        <ExpectationFields {...props} />
      </>
    );
  }
  const graph = parse({ nodes: [], edges: [] });
  const editor = { agent: { id: 4 } as Agent, document: { definition: graph } } as unknown as Editor;
  const { user } = await renderPart(
    <EditorProvider value={editor}>
      <Fields />
    </EditorProvider>,
  );
  return { user, scenario: () => current };
}

it("lets a model play the caller", async () => {
  const { user, scenario } = await renderFields(PLAIN);
  await user.click(screen.getByRole("switch", { name: /^A model plays the caller/ }));
  await user.type(screen.getByLabelText("Who they are"), "Ada");
  await user.type(screen.getByLabelText("What they want"), "A kettle");
  await user.type(screen.getByLabelText("How they talk"), "Slowly");
  await user.type(screen.getByLabelText("Model"), "openai/x");
  const model = { persona: "Ada", goal: "A kettle", style: "Slowly", name: "openai/x" };
  expect(scenario()).toEqual({ ...PLAIN, caller: { turns: ["Hello"], model } });
  await user.clear(screen.getByLabelText("How they talk"));
  expect(scenario()["caller"]).toEqual({
    turns: ["Hello"],
    model: { persona: "Ada", goal: "A kettle", name: "openai/x" },
  });
  await user.click(screen.getByRole("switch", { name: /^A model plays the caller/ }));
  expect(scenario()).toEqual(PLAIN);
});

it("names what is missing of a caller at its field", async () => {
  const scenario = { ...PLAIN, caller: { model: { persona: "", goal: "x" } } };
  const issue = {
    path: "scenarios[0].caller.model.persona",
    message: "string should have at least 1 character",
  };
  await renderFields(scenario, [issue]);
  expect(screen.getByText("Fill this in.")).toBeTruthy();
  expect(screen.getByLabelText("Who they are").getAttribute("aria-invalid")).toBe("true");
});

it("takes criteria for a judge, and which model judges", async () => {
  const { user, scenario } = await renderFields(PLAIN);
  expect(screen.queryByLabelText("Judging model")).toBeNull();
  await user.type(screen.getByPlaceholderText(/^The agent apologizes once/), "Is kind{Enter}");
  await user.type(screen.getByLabelText("Judging model"), "openai/y");
  expect(scenario()["expect"]).toEqual({ end: "bye", judged: ["Is kind"], judged_by: "openai/y" });
});

it("marks verdicts as a model's", async () => {
  const judged = { quote: "Sorry!", provider: "openai", model: "gpt-4.1", is_recorded: true };
  await renderPart(
    <ModelVerdicts
      verdicts={[
        { ...judged, criterion: "Apologizes", passed: true, reason: "It does." },
        { ...judged, criterion: "Is kind", passed: false, reason: "It is not.", is_recorded: false },
        {
          ...judged,
          criterion: "Is brief",
          passed: null,
          reason: "The answer cannot be used.",
          quote: "",
          model: null,
        },
      ]}
    />,
  );
  const text = screen.getByRole("region", { name: "Judged by a model" }).textContent;
  expect(text).toContain("Met: Apologizes");
  expect(text).toContain("It does. “Sorry!” (openai gpt-4.1, recorded)");
  expect(text).toContain("Not met: Is kind");
  expect(text).toContain("(openai gpt-4.1, live)");
  expect(text).toContain("Not judged: Is brief");
});
