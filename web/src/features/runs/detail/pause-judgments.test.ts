import { expect, it } from "vitest";
import { describePause } from "./pause-judgments";

it("says what the detector made of a pause, and what came of it", () => {
  const said = [
    { says: "complete", probability: 0.93, then: "turn_ended", changed: "sooner" },
    { says: "incomplete", probability: 0.081, then: "caller_went_on", changed: "later" },
    { says: "incomplete", probability: 0.081, then: "turn_ended", changed: "later" },
    { says: "unsure", probability: 0.5, then: "caller_went_on" },
    { says: "late" },
    { says: "failed" },
  ].map(describePause);
  expect(said).toEqual([
    "Complete (93%): the turn ended sooner than without the detector",
    "Incomplete (8%): the caller continued and was not cut off",
    "Incomplete (8%): the turn ended later than without the detector",
    "Unsure (50%): the caller continued",
    "No answer in time",
    "The detector failed",
  ]);
});
