import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { RedactionPanel } from "./redaction-panel";

const PATH = "/api/v1/organizations/redaction";
const REDACTED = { kinds: ["card", "name"], names: ["Anna Schmidt", "Grace"] };

async function renderPanel(role: "member" | "owner" = "owner", redaction: object = REDACTED) {
  const server = new FakeServer();
  signIn(server, role);
  server.on(`GET ${PATH}`, { body: redaction });
  const rendered = await renderPart(<RedactionPanel />, { server });
  const names = await screen.findByRole("textbox", { name: "List of names" });
  // Until the role is known, the fields are closed.
  if (role === "owner") await screen.findByRole("button", { name: "Save redaction" });
  const save = () => rendered.user.click(screen.getByRole("button", { name: "Save redaction" }));
  return { ...rendered, names, save };
}

const box = (name: string) => screen.getByRole("checkbox", { name });

it("sends kinds and names, and shows what was stored", async () => {
  const { user, server, names, save } = await renderPanel();
  expect(screen.getByText("2 of 1,000 names")).toBeTruthy();
  server.on(`PUT ${PATH}`, { body: { kinds: ["birth_date", "name"], names: ["Anna Schmidt", "Grace", "Ole"] } });
  await user.click(box("Card numbers"));
  await user.click(box("Dates of birth"));
  await user.click(names);
  await user.paste("\n  Ole \n\ngrace");
  expect(screen.getByText("4 of 1,000 names")).toBeTruthy();
  await save();
  const body = { kinds: ["name", "birth_date"], names: ["Anna Schmidt", "Grace", "Ole", "grace"] };
  await waitFor(() => expect(server.sent).toEqual([{ route: `PUT ${PATH}`, body }]));
  await waitFor(() => expect(names).toHaveProperty("value", "Anna Schmidt\nGrace\nOle"));
  expect(screen.getByText("3 of 1,000 names")).toBeTruthy();
});

it("offers every kind, and says when nothing is redacted", async () => {
  const { user, names } = await renderPanel("owner", { kinds: [], names: [] });
  expect(screen.getByText(/^Nothing is redacted\./)).toBeTruthy();
  expect(screen.getAllByRole("checkbox")).toHaveLength(8);
  expect(names).toHaveProperty("disabled", true);
  await user.click(box("Names"));
  expect(names).toHaveProperty("disabled", false);
});

it("leaves the list as it is while names are not redacted", async () => {
  const { user, server, names, save } = await renderPanel();
  server.on(`PUT ${PATH}`, { body: { ...REDACTED, kinds: ["card"] } });
  await user.click(box("Names"));
  expect(names).toHaveProperty("disabled", true);
  await save();
  await waitFor(() => expect(server.sent).toEqual([{ route: `PUT ${PATH}`, body: { kinds: ["card"], names: null } }]));
});

it("shows which of the names is wrong, and how", async () => {
  const { user, server, names, save } = await renderPanel();
  server.refuse(`PUT ${PATH}`, ["names", 2], "value_error", "Value error, A name needs a letter.");
  await user.type(names, "\n12");
  await save();
  expect(await screen.findByText("12: A name needs a letter.")).toBeTruthy();
  expect(names.getAttribute("aria-invalid")).toBe("true");
});

it("saves no list that is too long", async () => {
  const { user, names } = await renderPanel();
  await user.click(names);
  await user.paste("\n" + Array.from({ length: 1001 }, (_, index) => `Name ${index}`).join("\n"));
  expect(await screen.findByText("Remove 3 names to save the list.")).toBeTruthy();
  expect(screen.getByText("1,003 of 1,000 names")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Save redaction" })).toHaveProperty("disabled", true);
});

it("shows a member what applies and nothing to save", async () => {
  const { names } = await renderPanel("member");
  expect(box("Card numbers")).toHaveProperty("checked", true);
  expect(box("Card numbers")).toHaveProperty("disabled", true);
  expect(names).toHaveProperty("readOnly", true);
  expect(screen.queryByRole("button", { name: "Save redaction" })).toBeNull();
});
