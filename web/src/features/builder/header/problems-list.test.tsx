import { screen } from "@testing-library/react";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { parse } from "../../../graph/definition";
import { groupIssues } from "../../../graph/validation-issues";
import { renderPart } from "../../../testing/render";
import { type Editor, EditorProvider } from "../state/editor";
import { ProblemsList } from "./problems-list";

it("does not come up by itself at the next problem after its last one was solved", async () => {
  const required = { kind: "node", id: "start", field: "data.prompt", code: "prompt_required", message: "-" } as const;
  const editorWith = (issues: (typeof required)[]) =>
    ({
      validationIssues: groupIssues(issues, []),
      isChecked: true,
      document: { definition: parse({ nodes: [{ id: "start", data: { name: "Welcome" } }], edges: [] }) },
      reveal: vi.fn(),
    }) as unknown as Editor;
  function Page() {
    const [issues, setIssues] = useState([required]);
    return (
      <EditorProvider value={editorWith(issues)}>
        <button onClick={() => setIssues([])}>Solve</button>
        <button onClick={() => setIssues([required])}>Break</button>
        <ProblemsList />
      </EditorProvider>
    );
  }
  const { user } = await renderPart(<Page />);
  await user.click(screen.getByRole("button", { name: "1 error" }));
  await screen.findByRole("button", { name: "WelcomeEnter a prompt." });
  await user.click(screen.getByText("Solve"));
  expect(await screen.findByText("Ready")).toBeTruthy();
  await user.click(screen.getByText("Break"));
  const button = await screen.findByRole("button", { name: "1 error" });
  expect(button.getAttribute("aria-expanded")).toBe("false");
  expect(screen.queryByRole("button", { name: "WelcomeEnter a prompt." })).toBeNull();
});

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
