import { screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import ModelsSection from "./models-section";

const MODELS = "/api/v1/organizations/model-configurations/v2";
const SAVE = `PUT ${MODELS}`;
const VENDOR = {
  models: [],
  voices: [],
  languages: [],
  speed_range: null,
  takes_other_voices: false,
  takes_base_url: false,
  needs_key: false,
};
const OFFLINE = { ...VENDOR, provider: "builtin", title: "Offline" };
const ACME = { ...VENDOR, provider: "acme", title: "Acme", needs_key: true, takes_base_url: true };

/** The section of an owner, and the panel of one kind in it. */
async function renderPanel(title: string) {
  const server = new FakeServer();
  signIn(server, "owner");
  const service = { provider: "builtin" };
  server.on(`GET ${MODELS}`, {
    body: {
      configuration: {},
      source: "installation",
      effective: { llm: service, tts: service, stt: service, embeddings: service },
    },
  });
  server.on(`GET ${MODELS}/defaults`, {
    body: {
      providers: { llm: [OFFLINE, ACME], tts: [OFFLINE, ACME], stt: [OFFLINE, ACME] },
      embeddings: { builtin: ["minilm"], openai: ["small", "large"] },
      local_servers: [],
    },
  });
  const rendered = await renderPart(<ModelsSection />, { server });
  await screen.findByRole("button", { name: "Save" });
  const panel = screen.getByRole("heading", { name: title }).closest("section");
  if (panel === null) throw new Error("no panel");
  const vendor = within(panel).getByRole("combobox", { name: /^Vendor/ });
  const chooseVendor = async (name: string) => {
    await rendered.user.click(vendor);
    await rendered.user.click(await screen.findByRole("option", { name }));
  };
  return { ...rendered, panel: within(panel), chooseVendor };
}

it("sends the fields of a service, and shows what is wrong at its field", async () => {
  const { user, server, panel, chooseVendor } = await renderPanel("Language model");
  server.refuse(SAVE, ["services", "llm", "api_key"], "missing", "Field required");
  await chooseVendor("Acme");
  await user.type(panel.getByRole("combobox", { name: "Model" }), "large");
  await user.type(panel.getByLabelText(/^API key/), "s3cret");
  await user.type(panel.getByLabelText(/^Base URL/), "https://models.example.com/v1");
  await user.type(panel.getByLabelText(/^Max output tokens/), "200");
  await user.click(screen.getByRole("button", { name: "Save" }));
  const llm = {
    provider: "acme",
    model: "large",
    api_key: "s3cret",
    base_url: "https://models.example.com/v1",
    max_tokens: 200,
  };
  await waitFor(() => expect(server.sent).toEqual([{ route: SAVE, body: { llm } }]));
  expect(await panel.findByText("API key is required.")).toBeTruthy();
  expect(panel.getByLabelText(/^API key/).getAttribute("aria-invalid")).toBe("true");
});

it("sends a fallback", async () => {
  const { user, server } = await renderPanel("Voice");
  server.on(SAVE, { body: {} });
  await user.click(screen.getByRole("button", { name: "Add a fallback: Voice" }));
  await user.click(screen.getByRole("button", { name: "Save" }));
  const body = { fallbacks: { tts: [{ provider: "builtin" }] } };
  await waitFor(() => expect(server.sent).toEqual([{ route: SAVE, body }]));
});

it("sends the model of document search, and shows what is wrong at its field", async () => {
  const { user, server, panel, chooseVendor } = await renderPanel("Document search");
  server.refuse(SAVE, ["services", "embeddings", "base_url"], "url_parsing", "Input should be a valid URL");
  await chooseVendor("OpenAI or a compatible server");
  await user.type(panel.getByLabelText(/^Base URL/), "nowhere");
  await user.type(panel.getByLabelText(/^Model/), "my-embedder");
  await user.click(screen.getByRole("button", { name: "Save" }));
  const embeddings = { provider: "openai", base_url: "nowhere", model: "my-embedder" };
  await waitFor(() => expect(server.sent).toEqual([{ route: SAVE, body: { embeddings } }]));
  expect(await panel.findByText("Base URL must be a URL such as https://example.com.")).toBeTruthy();
});

it("shows beside a model that its vendor does not work", async () => {
  const { user, server, panel } = await renderPanel("Language model");
  const works = { ok: true, latency_ms: 5, message: "" };
  server.on(`POST ${MODELS}/check`, {
    body: { llm: { ok: false, latency_ms: 0, message: "The key was rejected." }, tts: works, stt: works },
  });
  await user.click(screen.getByRole("button", { name: "Test models" }));
  expect(await panel.findByText("The key was rejected.")).toBeTruthy();
  expect(panel.getByText("Failed")).toBeTruthy();
});

it("keeps what was edited while a pasted key was tested, and stores both", async () => {
  const { user, server, panel } = await renderPanel("Language model");
  const works = { ok: true, latency_ms: 5, message: null };
  const answer = server.hold(`POST ${MODELS}/check`, { body: { llm: works, tts: works, stt: works } });
  server.on(SAVE, { body: {} });
  await user.type(screen.getByLabelText(/^Vendor key/), "k3y");
  await user.click(screen.getByRole("combobox", { name: /^Vendor of the key/ }));
  await user.click(await screen.findByRole("option", { name: "Acme" }));
  await user.click(screen.getByRole("checkbox", { name: "Language model" }));
  await user.click(screen.getByRole("button", { name: "Test and fill in" }));
  await user.type(panel.getByRole("combobox", { name: "Model" }), "large");
  answer();
  await screen.findByText("The key works");
  await user.click(screen.getByRole("button", { name: "Save" }));
  const keyed = { provider: "acme", api_key: "k3y" };
  const body = { llm: { provider: "builtin", model: "large" }, tts: keyed, stt: keyed };
  await waitFor(() => expect(server.sent.at(-1)).toEqual({ route: SAVE, body }));
});
