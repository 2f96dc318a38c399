import { screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import type { Chosen, Known } from "./api";
import { guessProvider, listKeyOffers } from "./key-offers";
import { OneKey } from "./one-key";

const CHECK = "POST /api/v1/organizations/model-configurations/v2/check";
const KEY = "sk-proj-0123456789";
const WORKS = { ok: true, latency_ms: 5, message: null };
const vendor = (provider: string, title: string, needsKey = true) => ({ provider, title, needs_key: needsKey });
const KNOWN = {
  providers: {
    llm: [vendor("builtin", "Offline", false), vendor("openai", "OpenAI"), vendor("anthropic", "Anthropic")],
    tts: [vendor("openai", "OpenAI"), vendor("deepgram", "Deepgram")],
    stt: [vendor("openai", "OpenAI"), vendor("deepgram", "Deepgram")],
  },
} as unknown as Known;

/** The form over what is chosen so far; `latest()` is what it has filled in. */
async function renderForm(before: Chosen = {}) {
  const server = new FakeServer();
  signIn(server, "owner");
  let latest = before;
  function Settings() {
    const [chosen, setChosen] = useState(before);
    latest = chosen;
    return <OneKey known={KNOWN} chosen={chosen} onUse={(services) => setChosen({ ...chosen, ...services })} />;
  }
  const rendered = await renderPart(<Settings />, { server });
  const pasteKey = async (key: string) => rendered.user.type(await screen.findByLabelText(/^Vendor key/), key);
  const submit = () => rendered.user.click(screen.getByRole("button", { name: "Test and fill in" }));
  return { ...rendered, pasteKey, submit, latest: () => latest };
}

const kindBox = (name: string) => screen.getByRole<HTMLInputElement>("checkbox", { name });

it("tests a pasted key for all that its vendor offers, and fills in what works", async () => {
  const { server, pasteKey, submit, latest } = await renderForm();
  server.on(CHECK, { body: { ok: true, llm: WORKS, tts: WORKS, stt: WORKS } });
  await pasteKey(` ${KEY} `);
  await submit();
  expect(await screen.findByText("The key works")).toBeTruthy();
  const service = { provider: "openai", api_key: KEY };
  const services = { llm: service, tts: service, stt: service };
  expect(server.sent).toEqual([{ route: CHECK, body: services }]);
  expect(latest()).toEqual(services);
});

it("fills in nothing where the vendor refuses the key, and says why", async () => {
  const { server, pasteKey, submit, latest } = await renderForm();
  const refused = { ok: false, latency_ms: 5, message: "The key was rejected." };
  server.on(CHECK, { body: { ok: false, llm: WORKS, tts: refused, stt: WORKS } });
  await pasteKey(KEY);
  await submit();
  expect(await screen.findByText("The key was rejected.")).toBeTruthy();
  expect(Object.keys(latest())).toEqual(["llm", "stt"]);
});

it("leaves a kind to the vendor that was chosen for it", async () => {
  await renderForm({ tts: { provider: "deepgram", api_key: "…abcd" } }).then(({ pasteKey }) => pasteKey(KEY));
  expect(kindBox("Language model").checked).toBe(true);
  expect(kindBox("Voice").checked).toBe(false);
  expect(kindBox("Speech recognition").checked).toBe(true);
});

it("asks for the vendor of a key whose beginning says nothing", async () => {
  const { server, user, pasteKey, submit } = await renderForm();
  server.on(CHECK, { body: { ok: true, llm: WORKS, tts: WORKS, stt: WORKS } });
  await pasteKey("0123456789abcdef");
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Test and fill in" }).disabled).toBe(true);
  await user.click(screen.getByRole("combobox", { name: /^Vendor of the key/ }));
  await user.click(await screen.findByRole("option", { name: "Deepgram" }));
  await submit();
  await waitFor(() => expect(Object.keys(server.sent[0]?.body as object)).toEqual(["tts", "stt"]));
});

it.each([
  ["sk-ant-1", "anthropic"],
  ["sk-proj-1", "openai"],
  ["gsk_1", null],
  ["0123", null],
])("takes a key that begins like %s for one of %s", (key, provider) => {
  expect(guessProvider(key, listKeyOffers(KNOWN))).toBe(provider);
});
