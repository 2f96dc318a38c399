import { screen } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";
import { parse } from "../../../graph/definition";
import { renderPart } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import type { Document } from "../api";
import { type Editor, EditorProvider } from "../state/editor";
import { LanguageSettings } from "./language-settings";

const MODELS = "GET /api/v1/organizations/model-configurations/v2";
const DEFINITION = parse({
  nodes: [
    { id: "1", type: "startCall", data: { greeting: "Hello! How can I help?" } },
    { id: "2", type: "endCall", data: { say: "Goodbye." } },
  ],
  edges: [{ id: "1-2", source: "1", target: "2", data: { label: "done", transition_speech: "One moment." } }],
});

const seen: { document: Document } = { document: { definition: DEFINITION, configurations: {}, variables: {} } };

function Panel({ configurations, canEdit }: { configurations: Record<string, unknown>; canEdit: boolean }) {
  const [document, setDocument] = useState<Document>({ definition: DEFINITION, configurations, variables: {} });
  seen.document = document;
  const editor = {
    document,
    canEdit,
    saving: { name: "saved" },
    change: (next: (before: Document) => Document) => setDocument(next),
  } as unknown as Editor;
  return (
    <EditorProvider value={editor}>
      <LanguageSettings />
    </EditorProvider>
  );
}

async function renderPanel(configurations: Record<string, unknown> = {}, canEdit = true) {
  const service = { provider: "acme", language: "en-US", temperature: null, speed: null };
  const voices = [{ id: "v-lucia", title: "Lucia", languages: ["es"] }];
  const acme = { provider: "acme", title: "Acme", models: [{ id: "multi" }], voices, languages: [], speed_range: null };
  const server = new FakeServer()
    .on(`${MODELS}/defaults`, { body: { providers: { llm: [acme], tts: [acme], stt: [acme], realtime: [] } } })
    .on(MODELS, {
      body: { configuration: {}, effective: { llm: service, tts: service, stt: service, is_realtime: false } },
    });
  return renderPart(<Panel configurations={configurations} canEdit={canEdit} />, { server });
}

it("adds a language behind the one that calls are in, with its voice and its sentences", async () => {
  const { user } = await renderPanel();
  expect(await screen.findByText(/^Calls are in American English\./)).toBeTruthy();
  await user.type(screen.getByRole("combobox", { name: "New language" }), "es-MX");
  await user.click(screen.getByRole("button", { name: "Add language" }));
  const spanish = screen.getByRole("button", { name: /^Mexican Spanish/ });
  expect(spanish.textContent).toContain("0 of 3 sentences translated");
  await user.click(spanish);
  await user.type(await screen.findByRole("textbox", { name: "Hello! How can I help?" }), "¡Hola!");
  await user.click(screen.getByRole("combobox", { name: "Voice" }));
  await user.click(await screen.findByRole("option", { name: /^Lucia/ }));
  expect(seen.document.configurations).toEqual({
    languages: [
      { language: "en-US" },
      {
        language: "es-MX",
        models: { tts: { voice_id: "v-lucia" } },
        translations: { "Hello! How can I help?": "¡Hola!" },
      },
    ],
  });
  expect(spanish.textContent).toContain("1 of 3 sentences translated");
});

it("refuses a language that is listed already, and what is no language", async () => {
  const { user } = await renderPanel({ languages: [{ language: "en-US" }, { language: "es" }] });
  const added = await screen.findByRole("combobox", { name: "New language" });
  await user.type(added, "es-ES");
  await user.click(screen.getByRole("button", { name: "Add language" }));
  expect(await screen.findByText("Spanish is already listed.")).toBeTruthy();
  await user.clear(added);
  await user.type(added, "Spanish please");
  await user.click(screen.getByRole("button", { name: "Add language" }));
  expect(await screen.findByText("Enter a language code such as es or pt-BR.")).toBeTruthy();
});

it("names translations of sentences that the agent no longer says, and keeps what it has no fields for", async () => {
  const entry = { language: "es", phrases: { idle: "¿Hola?" }, translations: { "Old words.": "Palabras viejas." } };
  const { user } = await renderPanel({ languages: [{ language: "en" }, entry] });
  await user.click(await screen.findByRole("button", { name: /^Spanish/ }));
  await user.click(await screen.findByRole("button", { name: "Remove the translation of Old words." }));
  expect(seen.document.configurations["languages"]).toEqual([
    { language: "en" },
    { language: "es", phrases: { idle: "¿Hola?" } },
  ]);
  await user.click(screen.getByRole("button", { name: "Remove Spanish" }));
  expect(seen.document.configurations["languages"]).toEqual([{ language: "en" }]);
});

it("shows a viewer the languages and nothing to change", async () => {
  const { user } = await renderPanel({ languages: [{ language: "en" }, { language: "de" }] }, false);
  await user.click(await screen.findByRole("button", { name: /^German/ }));
  expect(await screen.findByRole("textbox", { name: "Goodbye." })).toHaveProperty("disabled", true);
  expect(screen.queryByRole("button", { name: "Add language" })).toBeNull();
  expect(screen.queryByRole("button", { name: "Remove German" })).toBeNull();
});
