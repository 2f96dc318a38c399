import { screen, waitFor, within } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, it, vi } from "vitest";
import type { Role } from "../../lib/api/types";
import { renderPart, signIn } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { VoiceChips } from "./voice-chips";

const MODELS = "/api/v1/organizations/model-configurations/v2";
const OLLAMA = { provider: "openai", base_url: "http://127.0.0.1:11434/v1", model: "llama3.2:latest" };
const KOKORO = { provider: "openai", base_url: "http://127.0.0.1:8880/v1", model: "kokoro" };
const BUILTIN = { provider: "builtin", model: "builtin", has_key: false };
const VENDOR = { title: "Acme", provider: "acme", needs_key: true };
const SERVERS = [
  { title: "Ollama", kind: "llm", base_url: OLLAMA.base_url, models: [OLLAMA.model], service: OLLAMA },
  { title: "Kokoro-FastAPI", kind: "tts", base_url: KOKORO.base_url, models: ["kokoro"], service: KOKORO },
];

interface Installation {
  role?: Role;
  hasSpeech?: boolean;
  effective?: Record<string, unknown>;
  configuration?: Record<string, unknown>;
}

async function renderChips({ role = "owner", hasSpeech = true, effective, configuration = {} }: Installation = {}) {
  const server = new FakeServer();
  signIn(server, role);
  server.on(`GET ${MODELS}`, {
    body: {
      configuration,
      source: "installation",
      effective: { llm: BUILTIN, tts: BUILTIN, stt: BUILTIN, embeddings: BUILTIN, ...effective },
    },
  });
  server.on(`GET ${MODELS}/defaults`, {
    body: { providers: { llm: [VENDOR], tts: [VENDOR], stt: [VENDOR] }, local_servers: SERVERS },
  });
  server.on(`PUT ${MODELS}`, { body: {} });
  if (hasSpeech) {
    Object.assign(window, { webkitSpeechRecognition: vi.fn(), speechSynthesis: {} });
  }
  function Panel() {
    const [isBrowserVoice, setIsBrowserVoice] = useState(false);
    return <VoiceChips isBrowserVoice={isBrowserVoice} onBrowserVoice={setIsBrowserVoice} isDisabled={false} />;
  }
  const rendered = await renderPart(<Panel />, { server });
  const row = within(await screen.findByRole("group", { name: "Models and voices" }));
  return { ...rendered, row, names: () => row.getAllByRole("button").map((chip) => chip.textContent) };
}

const isOn = (chip: HTMLElement) => chip.getAttribute("aria-pressed") === "true";

afterEach(() => {
  for (const name of ["webkitSpeechRecognition", "speechSynthesis"]) Reflect.deleteProperty(window, name);
});

it("offers this browser first, and chooses it when it is clicked", async () => {
  const { user, row, names, server } = await renderChips();
  await row.findByRole("button", { name: "A key…" });
  expect(names()).toEqual([
    "This browser",
    "Offline",
    "llama3.2 on this machine",
    "Kokoro-FastAPI on this machine",
    "A key…",
  ]);
  expect(screen.getByText(/may send audio to its vendor/)).toBeTruthy();
  const browser = row.getByRole("button", { name: "This browser" });
  expect([isOn(browser), isOn(row.getByRole("button", { name: "Offline" }))]).toEqual([false, true]);
  await user.click(browser);
  expect([isOn(browser), isOn(row.getByRole("button", { name: "Offline" }))]).toEqual([true, false]);
  expect(server.sent).toEqual([]);
});

it("leaves out a browser that cannot hear and speak", async () => {
  const { names, row } = await renderChips({ hasSpeech: false });
  await row.findByRole("button", { name: "A key…" });
  expect(names()[0]).toBe("Offline");
  expect(screen.queryByText(/may send audio/)).toBeNull();
});

it("uses a server of this machine with one click, beside what is stored", async () => {
  const stt = { provider: "acme", api_key: "••••abcd" };
  const { user, row, server } = await renderChips({
    configuration: { stt },
    effective: { stt: { ...stt, model: "ear", has_key: true } },
  });
  await user.click(row.getByRole("button", { name: "This browser" }));
  expect(await row.findByRole("button", { name: "Acme" })).toBeTruthy();
  await user.click(await row.findByRole("button", { name: "Kokoro-FastAPI on this machine" }));
  await waitFor(() => expect(server.sent).toEqual([{ route: `PUT ${MODELS}`, body: { stt, tts: KOKORO } }]));
  await waitFor(() => expect(isOn(row.getByRole("button", { name: "This browser" }))).toBe(false));
});

it("stops using a server of this machine with another click", async () => {
  const { user, row, server } = await renderChips({
    configuration: { llm: OLLAMA },
    effective: { llm: { ...OLLAMA, has_key: false } },
  });
  const chip = await row.findByRole("button", { name: "llama3.2 on this machine" });
  expect(isOn(chip)).toBe(true);
  await user.click(chip);
  await waitFor(() => expect(server.sent).toEqual([{ route: `PUT ${MODELS}`, body: {} }]));
});

it("keeps what an organization has chosen of a vendor", async () => {
  const { row } = await renderChips({
    configuration: { llm: { provider: "acme" } },
    effective: { llm: { provider: "acme", model: "large", has_key: true } },
  });
  await row.findByRole("button", { name: "A key…" });
  expect(row.queryByRole("button", { name: "llama3.2 on this machine" })).toBeNull();
});

it("leaves the models to admins", async () => {
  const { names } = await renderChips({ role: "member" });
  expect(names()).toEqual(["This browser", "Offline"]);
});

it("takes a key where the talk begins, and stores what works with it", async () => {
  const { user, row, server } = await renderChips();
  const works = { ok: true, latency_ms: 5, message: null };
  server.on(`POST ${MODELS}/check`, { body: { ok: true, llm: works, tts: works, stt: { ...works, ok: false } } });
  await user.click(await row.findByRole("button", { name: "A key…" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Use a vendor key" }));
  await user.type(dialog.getByLabelText(/^Vendor key/), "s3cret");
  await user.click(dialog.getByRole("combobox", { name: "Vendor of the key" }));
  await user.click(await screen.findByRole("option", { name: "Acme" }));
  await user.click(dialog.getByRole("button", { name: "Test and use" }));
  const service = { provider: "acme", api_key: "s3cret" };
  await waitFor(() =>
    expect(server.sent.at(-1)).toEqual({ route: `PUT ${MODELS}`, body: { llm: service, tts: service } }),
  );
  expect(await dialog.findByText(/in use for new calls/)).toBeTruthy();
});
