import { screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { chooseOption, renderPart } from "../../../testing/render";
import { KeyForm } from "./key-form";

const CREATE = "POST /api/v1/organizations/api-keys";

it("sends what a key may do and until when, and hands over the key", async () => {
  const onMade = vi.fn();
  const { user, server } = await renderPart(<KeyForm onClose={() => undefined} onMade={onMade} />);
  const release = server.hold(CREATE, { body: { api_key: "secret" } });
  await user.type(await screen.findByLabelText(/Name/), "CRM import");
  await chooseOption(user, "Role", /Viewer/);
  await chooseOption(user, "Expires", "Never");
  await user.type(screen.getByLabelText(/Allowed networks/), "203.0.113.0/24, 2001:db8::/48");
  await user.click(screen.getByRole("button", { name: "Create key" }));
  await waitFor(() =>
    expect(server.sent).toEqual([
      {
        route: CREATE,
        body: {
          name: "CRM import",
          role: "viewer",
          scopes: ["read", "call", "manage"],
          networks: ["203.0.113.0/24", "2001:db8::/48"],
        },
      },
    ]),
  );
  expect(screen.getByRole("button", { name: "Create key" })).toHaveProperty("disabled", true);
  release();
  await waitFor(() => expect(onMade).toHaveBeenCalledWith({ api_key: "secret" }));
});

it("says at the name that it is missing", async () => {
  const { user, server } = await renderPart(<KeyForm onClose={() => undefined} onMade={() => undefined} />);
  server.refuse(CREATE, ["name"], "missing", "Field required");
  await user.click(await screen.findByRole("button", { name: "Create key" }));
  expect(await screen.findByText("Name is required.")).toBeTruthy();
  expect(screen.getByLabelText(/Name/).getAttribute("aria-invalid")).toBe("true");
});

it("lets a key expire unless told otherwise", async () => {
  const { user, server } = await renderPart(<KeyForm onClose={() => undefined} onMade={() => undefined} />);
  server.on(CREATE, { body: { api_key: "secret" } });
  await user.type(await screen.findByLabelText(/Name/), "CRM import");
  await user.click(screen.getByRole("button", { name: "Create key" }));
  await waitFor(() => expect(server.sent).toHaveLength(1));
  const { expires_at } = server.sent[0]?.body as { expires_at: string };
  expect(Math.round((Date.parse(expires_at) - Date.now()) / 86_400_000)).toBe(90);
});
