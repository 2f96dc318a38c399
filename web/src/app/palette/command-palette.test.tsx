import { screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { type Command, useCommands } from "../../lib/commands/commands";
import { renderPart, signIn } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { CommandPalette } from "./command-palette";

const arrange = vi.fn();
beforeEach(() => arrange.mockClear());
const COMMANDS: readonly Command[] = [{ id: "arrange", title: "Arrange all steps", group: "Canvas", run: arrange }];

function Editor({ onClose }: { onClose: () => void }) {
  useCommands(COMMANDS);
  return <CommandPalette onClose={onClose} />;
}

it("finds pages, agents and what the page offers, and runs the chosen one by Enter", async () => {
  const server = new FakeServer().on("GET /api/v1/workflow/summary", { body: [{ id: 4, name: "Front desk" }] });
  signIn(server, "owner");
  const close = vi.fn();
  const { user } = await renderPart(<Editor onClose={close} />, { server });
  expect(await screen.findByRole("option", { name: "Front desk" })).toBeTruthy();
  expect(screen.getByRole("option", { name: "Campaigns" })).toBeTruthy();
  const search = screen.getByRole("textbox", { name: "Search pages, agents and commands" });
  await user.type(search, "zzz");
  expect(await screen.findByText("No matching commands")).toBeTruthy();
  await user.clear(search);
  await user.type(search, "arrange{Enter}");
  expect(arrange).toHaveBeenCalledOnce();
  expect(close).toHaveBeenCalledOnce();
});

it("closes by Escape, and runs what is clicked", async () => {
  const close = vi.fn();
  const server = new FakeServer().on("GET /api/v1/workflow/summary", { body: [] });
  signIn(server, "owner");
  const { user } = await renderPart(<Editor onClose={close} />, { server });
  await user.click(await screen.findByRole("option", { name: "Arrange all steps" }));
  expect(arrange).toHaveBeenCalled();
  await user.click(screen.getByRole("textbox", { name: "Search pages, agents and commands" }));
  close.mockClear();
  await user.keyboard("{Escape}");
  expect(close).toHaveBeenCalled();
});
