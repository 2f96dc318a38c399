import { screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderPart, signIn } from "../../../../testing/render";
import { FakeServer } from "../../../../testing/server";
import { parseAddresses } from "./pack-words";
import { VoicePacksPanel } from "./voice-packs-panel";

const PACKS = "/api/v1/superuser/voice-packs";
const MIRROR = { addresses: ["https://mirror.example/"], source: "stored" };
const OFFER = {
  name: "english",
  title: "English, small",
  size_bytes: 71_100_000,
  licenses: ["Apache-2.0", "MIT"],
  digest: "ab".repeat(32),
  stt: "transducer",
  tts: "vits",
  languages: ["en"],
  file_count: 6,
};
const INSTALLED = { ...OFFER, installed_at: "2026-01-01T00:00:00Z", organization_count: 2, is_default: false };
const NOTHING = {
  mirrors: { addresses: [], source: "none" },
  packs: [],
  unfinished: [],
  installation: null,
  free_bytes: 9e9,
};
const RUNNING = {
  state: "running",
  name: "english",
  title: "English, small",
  done_bytes: 35_550_000,
  size_bytes: 71_100_000,
  file: "stt/encoder.onnx",
  code: null,
  message: null,
  started_at: "2026-01-01T00:00:00Z",
  ended_at: null,
};

async function renderPanel(found: object, isSuperuser = true) {
  const server = new FakeServer();
  signIn(server, "owner");
  server.on("GET /api/v1/auth/me", { body: { is_superuser: isSuperuser } });
  server.on(`GET ${PACKS}`, { body: { ...NOTHING, ...found } });
  server.on(`GET ${PACKS}/offer`, { body: OFFER });
  const onUse = vi.fn();
  return { ...(await renderPart(<VoicePacksPanel onUse={onUse} />, { server })), onUse };
}

it("is not there for those who do not run the installation", async () => {
  await renderPanel({}, false);
  expect(screen.queryByText("Better offline voices")).toBeNull();
});

it("saves the address of a mirror, and shows what is wrong with it", async () => {
  const { user, server } = await renderPanel({});
  await user.type(await screen.findByLabelText("Mirror address"), "nowhere");
  const route = `PUT ${PACKS}/mirrors`;
  server.on(route, {
    status: 422,
    body: { detail: "'nowhere' does not begin with https://.", code: "voices_address_invalid" },
  });
  await user.click(screen.getByRole("button", { name: "Save address" }));
  expect(await screen.findByText("'nowhere' does not begin with https://.")).toBeTruthy();
  expect(server.sent).toEqual([{ route, body: { addresses: ["nowhere"] } }]);
});

it("installs what it shows, and says why that is refused", async () => {
  const { user, server } = await renderPanel({ mirrors: MIRROR });
  expect(await screen.findByText("English recognizer and voice · 71.1 MB · Apache-2.0, MIT")).toBeTruthy();
  const route = `POST ${PACKS}/installation`;
  server.on(route, { status: 507, body: { detail: "The disk is full.", code: "voices_disk_full" } });
  await user.click(screen.getByRole("button", { name: "Install" }));
  expect(await screen.findByText("The disk is full.")).toBeTruthy();
  expect(server.sent).toEqual([{ route, body: { digest: OFFER.digest } }]);
});

it("shows how far it is, and cancels", async () => {
  const { user, server } = await renderPanel({ mirrors: MIRROR, installation: RUNNING });
  expect(await screen.findByText(/^50% · 35.5 MB of 71.1 MB · stt\/encoder.onnx/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Install" })).toBeNull();
  const route = `DELETE ${PACKS}/installation`;
  const part = { name: "english", title: "English, small", fetched_bytes: 35_550_000, size_bytes: 71_100_000 };
  server.on(route, { body: {} });
  server.on(`GET ${PACKS}`, {
    body: { ...NOTHING, mirrors: MIRROR, installation: { ...RUNNING, state: "canceled" }, unfinished: [part] },
  });
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  expect(await screen.findByRole("button", { name: "Resume English, small" })).toBeTruthy();
  expect(server.sent.map((one) => one.route)).toEqual([route]);
});

it("says who uses a pack, takes it over, and asks before it is removed", async () => {
  const { user, server, onUse } = await renderPanel({ mirrors: MIRROR, packs: [INSTALLED] });
  expect(await screen.findByText("Used by 2 organizations")).toBeTruthy();
  await user.click(await screen.findByRole("button", { name: "Use English, small" }));
  expect(onUse).toHaveBeenCalledWith(INSTALLED);
  const route = `DELETE ${PACKS}/english`;
  server.on(route, { body: { name: "english", freed_bytes: 71_100_000 } });
  await user.click(screen.getByRole("button", { name: "Remove English, small" }));
  await user.click(await screen.findByRole("button", { name: "Remove" }));
  await waitFor(() => expect(server.sent.map((one) => one.route)).toEqual([route]));
});

it("says why an installation failed", async () => {
  const message = "tts/voice.onnx is not the file that the manifest names.";
  const installation = { ...RUNNING, state: "failed", code: "voices_file_mismatch", message };
  await renderPanel({ mirrors: MIRROR, installation });
  expect(await screen.findByText(message)).toBeTruthy();
});

it("takes one address a line", () => {
  expect(parseAddresses(" https://a.example/ \n\nhttps://b.example, https://c.example")).toEqual([
    "https://a.example/",
    "https://b.example",
    "https://c.example",
  ]);
});
