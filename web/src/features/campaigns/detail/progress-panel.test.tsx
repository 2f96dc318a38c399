import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../testing/render";
import { ProgressPanel } from "./progress-panel";

it("compares who answered with those who are done, a word that no result has", async () => {
  const progress = {
    total_contacts: 8,
    completed: 4,
    in_progress: 0,
    pending: 4,
    answered: 2,
    dialled: 5,
    progress_percentage: 50,
    outcomes: { answered: 2, busy: 2 },
  };
  await renderPart(<ProgressPanel campaign={{ status: "paused" } as never} progress={progress as never} />);
  expect(await screen.findByText("50% of those done")).toBeTruthy();
});
