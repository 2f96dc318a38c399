import { screen, within } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";
import { parse } from "../../../graph/definition";
import type { Agent } from "../../../lib/api/types";
import { renderPart } from "../../../testing/render";
import { type Editor, EditorProvider } from "../state/editor";
import { CallerFields } from "./caller-fields";
import { ExpectationFields } from "./expectation-fields";
import type { PlainScenario, ScenarioIssue } from "./scenario";

const LOUD: PlainScenario = {
  name: "loud",
  caller: {
    turns: ["a table"],
    manner: { hesitates: 0.2, interrupts: 0.125, speed: 1.2, voice: "en-gb+f3", wrong_sentences: ["No idea."] },
  },
  expect: { end: "bye", max_answer_ms: 1500, max_yield_ms: 800, max_talk_overs: 0 },
};

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
  const graph = parse({ nodes: [{ id: "bye", type: "endNode", data: { name: "Goodbye" } }], edges: [] });
  const editor = { agent: { id: 4 } as Agent, document: { definition: graph } } as unknown as Editor;
  const { user } = await renderPart(
    <EditorProvider value={editor}>
      <Fields />
    </EditorProvider>,
  );
  return { user, scenario: () => current };
}

const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label);

it("shows what a scenario says about sound with its units, and keeps it to the letter", async () => {
  const { user, scenario } = await renderFields(LOUD);
  const shown = ["Interrupts", "Speed", "Voice", "Max answer time", "Max time to stop", "Max talk-overs"].map(
    (label) => field(label).value,
  );
  expect(shown).toEqual(["12.5%", "1.2", "en-gb+f3", "1500 ms", "800 ms", "0"]);
  for (const label of ["Interrupts", "Speed", "Max answer time"]) {
    await user.click(field(label));
    await user.tab();
  }
  expect(scenario()).toEqual(LOUD);
  await user.type(field("Max turns"), "9");
  expect(scenario()).toEqual({ ...LOUD, expect: { ...(LOUD["expect"] as object), max_turns: 9 } });
});

it("writes them, and leaves out what is cleared", async () => {
  const plain: PlainScenario = { name: "plain", caller: { turns: ["a table"] }, expect: {} };
  const { user, scenario } = await renderFields(plain);
  await user.type(field("Interrupts"), "5.5");
  await user.type(field("Speed"), "0.8");
  await user.type(field("Voice"), "de");
  await user.type(field("Max answer time"), "1200");
  await user.type(field("Max time to stop"), "600");
  await user.type(field("Max talk-overs"), "0");
  expect(scenario()).toEqual({
    name: "plain",
    caller: { turns: ["a table"], manner: { interrupts: 0.055, speed: 0.8, voice: "de" } },
    expect: { max_answer_ms: 1200, max_yield_ms: 600, max_talk_overs: 0 },
  });
  for (const label of ["Interrupts", "Speed", "Voice", "Max answer time", "Max time to stop", "Max talk-overs"])
    await user.clear(field(label));
  expect(scenario()).toEqual(plain);
});

it("says what is wrong at the field that it is about", async () => {
  await renderFields(LOUD, [
    { path: "scenarios[0].caller.manner.voice", message: "a voice has a name like en-us or en-gb+f3" },
    { path: "scenarios[0].expect.max_yield_ms", message: "input should be greater than 0" },
  ]);
  expect(field("Voice").getAttribute("aria-invalid")).toBe("true");
  expect(screen.getByText("A voice has a name like en-us or en-gb+f3.")).toBeTruthy();
  const group = screen.getByRole("group", { name: "Expectations, with sound" });
  expect(within(group).getByText("Input should be greater than 0.")).toBeTruthy();
  expect(field("Max time to stop").getAttribute("aria-invalid")).toBe("true");
  expect(field("Max answer time").getAttribute("aria-invalid")).toBeNull();
});

it("lets voicemail answer, with a greeting of its own", async () => {
  const { user, scenario } = await renderFields({ name: "box", caller: { turns: ["Hi"] }, expect: { end: "bye" } });
  await user.click(screen.getByRole("switch", { name: /^Voicemail answers/ }));
  expect(scenario()["caller"]).toEqual({ turns: ["Hi"], manner: { voicemail: {} } });
  await user.type(field("Greeting"), "Not home.");
  await user.click(screen.getByRole("switch", { name: "Beep after the greeting" }));
  expect(scenario()["caller"]).toEqual({
    turns: ["Hi"],
    manner: { voicemail: { greeting: "Not home.", beeps: false } },
  });
  await user.click(screen.getByRole("switch", { name: /^Voicemail answers/ }));
  expect(scenario()["caller"]).toEqual({ turns: ["Hi"] });
});

it("takes figures of the whole call, and what its models may cost", async () => {
  const { user, scenario } = await renderFields({ name: "one", caller: { turns: ["Hi"] }, expect: { end: "bye" } });
  await user.type(field("Max average answer time"), "1.5");
  await user.type(field("Min interruptions yielded to"), "90");
  await user.type(field("Max model cost"), "0.25");
  expect(scenario()["expect"]).toEqual({ end: "bye", panel: { L_R: 1.5, R_Y: 0.9 }, max_cost_cents: 0.25 });
  await user.clear(field("Max average answer time"));
  await user.clear(field("Min interruptions yielded to"));
  expect(scenario()["expect"]).toEqual({ end: "bye", max_cost_cents: 0.25 });
});
