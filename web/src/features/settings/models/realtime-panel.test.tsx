import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import ModelsSection from "./models-section";

const MODELS = "/api/v1/organizations/model-configurations/v2";
const SAVE = `PUT ${MODELS}`;
const VENDOR = { models: [], languages: [], speed_range: null, takes_other_voices: false, takes_base_url: true };
const OFFLINE = { ...VENDOR, voices: [], provider: "builtin", title: "Offline", needs_key: false };
const SPOKEN = [
  { ...VENDOR, provider: "openai_realtime", title: "OpenAI Realtime", voices: [], needs_key: true },
  {
    ...VENDOR,
    provider: "gemini_live",
    title: "Gemini Live",
    models: [{ id: "gemini-3.8-live" }],
    voices: [{ id: "Kore", title: "Kore" }],
    needs_key: true,
  },
  {
    ...VENDOR,
    provider: "nova_sonic",
    title: "Amazon Nova Sonic",
    voices: [],
    needs_key: true,
    needs_access_key_id: true,
    regions: ["us-east-1"],
  },
];

/** The section with these stored services, and the panel of the speech-to-speech model in it. */
async function renderPanel(configuration: object = {}, role: "owner" | "member" = "owner") {
  const server = new FakeServer();
  signIn(server, role);
  const service = { provider: "builtin" };
  const effective = { llm: service, tts: service, stt: service, embeddings: service };
  server.on(`GET ${MODELS}`, { body: { configuration, source: "organization", effective } });
  server.on(`GET ${MODELS}/defaults`, {
    body: {
      providers: { llm: [OFFLINE], tts: [OFFLINE], stt: [OFFLINE], realtime: SPOKEN },
      embeddings: { builtin: ["minilm"] },
      local_servers: [],
    },
  });
  const rendered = await renderPart(<ModelsSection />, { server });
  const heading = await screen.findByRole("heading", { name: "Speech-to-speech model" });
  if (role === "owner") await screen.findByRole("button", { name: "Save" });
  const panel = heading.closest("section");
  if (panel === null) throw new Error("no panel");
  return { ...rendered, panel: within(panel) };
}

it("says that there is none, adds one, and sends it", async () => {
  const { user, server, panel } = await renderPanel();
  server.on(SAVE, { body: {} });
  expect(panel.getByText("None. Calls are answered by the models above.")).toBeTruthy();
  await user.click(panel.getByRole("button", { name: "Add a speech-to-speech model" }));
  expect(panel.getByText(/^These calls cannot be replayed/)).toBeTruthy();
  await user.click(panel.getByRole("combobox", { name: /^Vendor/ }));
  await user.click(await screen.findByRole("option", { name: "Gemini Live" }));
  await user.type(panel.getByRole("combobox", { name: "Model" }), "gemini-3.8-live");
  await user.type(panel.getByRole("combobox", { name: "Voice" }), "Kore");
  await user.type(panel.getByLabelText(/^API key/), "AIza-1");
  await user.click(screen.getByRole("button", { name: "Save" }));
  const realtime = { provider: "gemini_live", model: "gemini-3.8-live", voice_id: "Kore", api_key: "AIza-1" };
  await waitFor(() => expect(server.sent).toEqual([{ route: SAVE, body: { realtime, is_realtime: true } }]));
});

it("shows at its field what is wrong, and that the key was tested", async () => {
  const { user, server, panel } = await renderPanel({ realtime: { provider: "gemini_live" } });
  server.refuse(SAVE, ["services", "realtime", "api_key"], "missing", "Field required");
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(await panel.findByText("API key is required.")).toBeTruthy();
  const works = { ok: true, latency_ms: 5, message: null };
  const refused = { ok: false, latency_ms: 0, message: "API key not valid." };
  server.on(`POST ${MODELS}/check`, { body: { llm: works, tts: works, stt: works, realtime: refused } });
  await user.click(screen.getByRole("button", { name: "Test models" }));
  expect(await panel.findByText("API key not valid.")).toBeTruthy();
  expect(panel.getByText("Failed")).toBeTruthy();
});

it("keeps a model that is off, and removes one with its switch", async () => {
  const { user, server, panel } = await renderPanel({ realtime: { provider: "gemini_live" } });
  server.on(SAVE, { body: {} });
  await user.click(panel.getByRole("switch", { name: /^Use for calls/ }));
  await user.click(screen.getByRole("button", { name: "Save" }));
  const body = { realtime: { provider: "gemini_live" }, is_realtime: false };
  await waitFor(() => expect(server.sent.at(-1)).toEqual({ route: SAVE, body }));
  await user.click(await panel.findByRole("button", { name: "Remove speech-to-speech model" }));
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(server.sent.at(-1)).toEqual({ route: SAVE, body: {} }));
});

it("shows a member what is in use, and nothing to change", async () => {
  const { panel } = await renderPanel({ realtime: { provider: "gemini_live" } }, "member");
  expect(panel.getByRole("combobox", { name: /^Vendor/ })).toHaveProperty("disabled", true);
  expect(panel.queryByRole("button", { name: /speech-to-speech/ })).toBeNull();
});

it("asks for both parts of a key and for the region where a vendor has them", async () => {
  const { panel } = await renderPanel({ realtime: { provider: "nova_sonic", access_key_id: "AKIA1" } });
  expect(panel.getByLabelText(/^Access key ID/)).toHaveProperty("value", "AKIA1");
  expect(panel.getByLabelText(/^Secret access key/)).toBeTruthy();
  expect(panel.getByRole("combobox", { name: "Region" })).toHaveProperty("placeholder", "us-east-1");
});
