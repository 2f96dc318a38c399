import { expect, it } from "vitest";
import type { Command } from "./commands";
import { matchCommands } from "./match-commands";

const command = (title: string, group = "Go to", keywords?: string): Command => ({
  id: title,
  title,
  group,
  ...(keywords === undefined ? {} : { keywords }),
  run: () => undefined,
});
const ALL = [
  command("Overview"),
  command("Audit log", "Settings"),
  command("Add step: Agent Step", "Canvas", "new node"),
  command("Appointment booking (demo)", "Agents"),
];
const titles = (query: string) => matchCommands(ALL, query).map(({ title }) => title);

it("shows everything before anything is typed", () => {
  expect(titles(" ")).toHaveLength(4);
});

it("finds by the beginnings of any words, in title, group and keywords", () => {
  expect(titles("book")).toEqual(["Appointment booking (demo)"]);
  expect(titles("step add")).toEqual(["Add step: Agent Step"]);
  expect(titles("node")).toEqual(["Add step: Agent Step"]);
  expect(titles("settings log")).toEqual(["Audit log"]);
  expect(titles("view")).toEqual([]);
});

it("puts titles that begin with what was typed first", () => {
  expect(titles("a")).toEqual(["Audit log", "Add step: Agent Step", "Appointment booking (demo)"]);
  expect(matchCommands([command("New agent"), command("Agent settings")], "agent")[0]?.title).toBe("Agent settings");
});
