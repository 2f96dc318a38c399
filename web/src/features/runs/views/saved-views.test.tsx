import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart, signIn } from "../../../testing/render";
import { FakeServer } from "../../../testing/server";
import { SavedViews } from "./saved-views";

it("gives the keyboard an item even where nothing can be saved", async () => {
  const server = new FakeServer().on("GET /api/v1/organizations/usage/run-views", { body: [] });
  signIn(server, "member");
  const { user } = await renderPart(<SavedViews search={{ page: 1 }} onOpen={() => undefined} />, { server });
  screen.getByRole("button", { name: "Views" }).focus();
  await user.keyboard("{Enter}");
  const save = await screen.findByRole("menuitem", { name: "Save as a new view" });
  save.focus();
  expect(document.activeElement).toBe(save);
  await user.keyboard("{Enter}");
  expect(save.getAttribute("aria-disabled")).toBe("true");
  expect(screen.queryByRole("dialog")).toBeNull();
});
