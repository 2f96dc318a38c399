import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { parse } from "../../../graph/definition";
import { groupIssues } from "../../../graph/validation-issues";
import { renderPart } from "../../../testing/render";
import { type Editor, EditorProvider } from "../state/editor";
import { ProblemsList } from "./problems-list";

it("takes the focus when it opens, and gives it back to its button when Escape closes it", async () => {
  const required = { kind: "node", id: "start", field: "data.prompt", code: "prompt_required", message: "-" } as const;
  const editor = {
    validationIssues: groupIssues([required], []),
    isChecked: true,
    document: { definition: parse({ nodes: [{ id: "start", data: { name: "Welcome" } }], edges: [] }) },
    reveal: vi.fn(),
  };
  const { user } = await renderPart(
    <EditorProvider value={editor as unknown as Editor}>
      <ProblemsList />
    </EditorProvider>,
  );
  const button = screen.getByRole("button", { name: "1 error" });
  await user.click(button);
  const problem = await screen.findByRole("button", { name: "WelcomeEnter a prompt." });
  await expect.poll(() => document.activeElement).toBe(problem);
  await user.keyboard("{Escape}");
  await expect.poll(() => document.activeElement).toBe(button);
});
