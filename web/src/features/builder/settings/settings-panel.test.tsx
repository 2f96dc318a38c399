import { screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";
import { parse } from "../../../graph/definition";
import type { Saving } from "../../../graph/editing/autosave";
import { errorFrom } from "../../../lib/api/errors";
import type { Agent } from "../../../lib/api/types";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import type { Document } from "../api";
import { type Editor, EditorProvider } from "../state/editor";
import { SettingsPanel } from "./settings-panel";

const MODELS = "GET /api/v1/organizations/model-configurations/v2";
const VOICES = [{ id: "v-lucia", title: "Lucia", languages: ["es"] }];
const ACME = { provider: "acme", title: "Acme", models: [], voices: VOICES, languages: [], speed_range: null };
const FIRST = { definition: parse({ nodes: [], edges: [] }), configurations: {}, variables: {} };

const seen: { document: Document } = { document: FIRST };

function Panel({ saving = { name: "saved" }, canEdit = true }: { saving?: Saving; canEdit?: boolean }) {
  const [document, setDocument] = useState(FIRST);
  seen.document = document;
  const editor = {
    agent: { id: 4, name: "Front desk", status: "active" } as Agent,
    document,
    specs: new Map(),
    canEdit,
    saving,
    change: (next: (before: Document) => Document) => setDocument(next),
  } as unknown as Editor;
  return (
    <EditorProvider value={editor}>
      <SettingsPanel />
    </EditorProvider>
  );
}

async function renderPanel(part = <Panel />, realtime?: object) {
  const service = { provider: "builtin", temperature: null, speed: null };
  const server = new FakeServer()
    .on(`${MODELS}/defaults`, { body: { providers: { llm: [ACME], tts: [ACME], stt: [ACME], realtime: [ACME] } } })
    .on(MODELS, {
      body: {
        configuration: { realtime },
        effective: { llm: service, tts: service, stt: service, is_realtime: realtime !== undefined },
      },
    });
  const rendered = await renderPart(part, { server });
  return { ...rendered, open: (name: string) => rendered.user.click(screen.getByRole("button", { name })) };
}

const refused = (name: string, type: string, msg: string, limit?: number): Saving => ({
  name: "failed",
  error: errorFrom(422, {
    detail: [{ loc: ["body", "workflow_configurations", ...name.split(".")], type, msg, limit }],
  }),
});

it("keeps what is typed into the settings of calls", async () => {
  const { user, open } = await renderPanel();
  await open("Call length");
  const limit = await screen.findByRole("textbox", { name: /^Maximum call duration/ });
  await user.clear(limit);
  await user.type(limit, "90");
  await open("Voicemail");
  await user.click(await screen.findByRole("switch", { name: /^Detect voicemail/ }));
  expect(seen.document.configurations).toMatchObject({
    max_call_duration: 90,
    voicemail_detection: { enabled: false },
  });
});

it("keeps the models of this agent", async () => {
  const { user } = await renderPanel();
  await user.click(await screen.findByRole("combobox", { name: "Language model: vendor" }));
  await user.click(await screen.findByRole("option", { name: "Acme" }));
  await user.type(screen.getByRole("combobox", { name: "Language model: model" }), "large");
  await user.type(screen.getByRole("textbox", { name: /^Temperature/ }), "1");
  expect(seen.document.configurations).toMatchObject({
    models: { llm: { provider: "acme", model: "large", temperature: 1 } },
  });
});

it("keeps the voice that is chosen by its name by its id", async () => {
  const { user } = await renderPanel();
  await user.click(await screen.findByRole("combobox", { name: "Voice: vendor" }));
  await user.click(await screen.findByRole("option", { name: "Acme" }));
  await user.type(screen.getByRole("combobox", { name: "Voice" }), "luc");
  await user.click(await screen.findByRole("option", { name: /^Lucia/ }));
  expect(seen.document.configurations).toEqual({ models: { tts: { provider: "acme", voice_id: "v-lucia" } } });
});

it("chooses a speech-to-speech model for this agent, and its vendor where the organization has none", async () => {
  const { user } = await renderPanel();
  const use = await screen.findByRole("combobox", { name: "Speech-to-speech model: use" });
  expect(use.getAttribute("placeholder")).toBe("Organization default: none");
  await user.click(use);
  await user.click(await screen.findByRole("option", { name: "Answers calls" }));
  await user.type(screen.getByRole("combobox", { name: "Speech-to-speech model: voice" }), "kore");
  expect(seen.document.configurations).toMatchObject({
    models: { is_realtime: true, realtime: { provider: "acme", voice_id: "kore" } },
  });
  expect(screen.getByText(/These calls cannot be replayed/)).toBeTruthy();
});

it("turns the organization's speech-to-speech model off for this agent, and back", async () => {
  const { user } = await renderPanel(<Panel />, { provider: "acme" });
  const use = await screen.findByRole("combobox", { name: "Speech-to-speech model: use" });
  await waitFor(() => expect(use.getAttribute("placeholder")).toBe("Organization default: Acme"));
  await user.click(use);
  await user.click(await screen.findByRole("option", { name: "Not used" }));
  expect(seen.document.configurations).toMatchObject({ models: { is_realtime: false } });
  await user.click(use);
  await user.click(await screen.findByRole("option", { name: "Answers calls" }));
  expect(seen.document.configurations).toEqual({ models: { is_realtime: true } });
});

it("says that the vendor of a speech-to-speech model has no key", async () => {
  const saving = refused("models.realtime.api_key", "missing", "Field required");
  const { user } = await renderPanel(<Panel saving={saving} />);
  await user.click(await screen.findByRole("combobox", { name: "Speech-to-speech model: use" }));
  await user.click(await screen.findByRole("option", { name: "Answers calls" }));
  expect(screen.getByText("This vendor has no key yet. An admin can add one in Settings, Models.")).toBeTruthy();
});

it("keeps the results that calls come to", async () => {
  const { user, open } = await renderPanel();
  await open("Results and success");
  await user.click(await screen.findByRole("switch", { name: /^Write a summary/ }));
  await user.click(screen.getByRole("button", { name: "Add result" }));
  await user.type(await screen.findByRole("textbox", { name: /^Name/ }), "Won");
  await user.click(screen.getByRole("radio", { name: "Success" }));
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("Complete or remove each rule.")).toBeTruthy();
  await user.type(screen.getByRole("combobox", { name: "Variable" }), "ok");
  await user.type(screen.getByRole("combobox", { name: "Values" }), "yes{Enter}");
  await user.click(screen.getByRole("button", { name: "Save" }));
  const rule = { check: "variable", name: "ok", operator: "is", values: ["yes"] };
  expect(seen.document.configurations["call_analysis"]).toEqual({
    write_summary: true,
    results: [{ name: "Won", is_success: true, rules: [rule] }],
  });
  expect(await screen.findByText("ok is yes")).toBeTruthy();
});

it("keeps a variable that every run begins with", async () => {
  const { user, open } = await renderPanel();
  await open("Variables");
  await user.type(await screen.findByRole("textbox", { name: "New variable name" }), "company");
  await user.click(screen.getByRole("button", { name: "Add" }));
  await user.type(await screen.findByRole("textbox", { name: "company" }), "Acme");
  expect(seen.document.variables).toEqual({ company: "Acme" });
});

it("shows at a setting why the draft was not saved", async () => {
  const saving = refused("max_call_duration", "less_than_equal", "Input should be less than or equal to 1200", 1200);
  const { open } = await renderPanel(<Panel saving={saving} />);
  await open("Call length");
  expect(await screen.findByText(/must be less than or equal to 1200\.$/)).toBeTruthy();
  const limit = screen.getByRole("textbox", { name: /^Maximum call duration/ });
  expect(limit.getAttribute("aria-invalid")).toBe("true");
});

it("cannot be changed by a viewer", async () => {
  const { open } = await renderPanel(<Panel canEdit={false} />);
  await open("Call length");
  expect(await screen.findByRole("textbox", { name: /^Maximum call duration/ })).toHaveProperty("disabled", true);
});
