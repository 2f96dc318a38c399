import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderPart } from "../../../testing/render";
import { type Editor, EditorProvider } from "../state/editor";
import { OfflineList, summarize } from "./offline-list";

it("says how far an agent gets without a model", () => {
  const runs = { mode: "runs" } as const;
  const limited = { mode: "limited" } as const;
  const needs = { mode: "needs_model" } as const;
  expect(summarize([runs])).toBe("Runs offline");
  expect(summarize([runs, limited, limited])).toBe("Runs offline, 2 steps limited");
  expect(summarize([limited, needs])).toBe("1 step needs a model");
  expect(summarize([needs, needs])).toBe("2 steps need a model");
});

it("gives the focus back to its button when Escape closes it", async () => {
  const offline = [{ node_id: "start", name: "Welcome", mode: "runs", reasons: [] }];
  const { user } = await renderPart(
    <EditorProvider value={{ offline, reveal: vi.fn() } as unknown as Editor}>
      <OfflineList />
    </EditorProvider>,
  );
  const button = screen.getByRole("button", { name: "Runs offline" });
  await user.click(button);
  (await screen.findByRole("button", { name: /Welcome/ })).focus();
  await user.keyboard("{Escape}");
  await expect.poll(() => document.activeElement).toBe(button);
  expect(screen.queryByRole("button", { name: /Welcome/ })).toBeNull();
});
