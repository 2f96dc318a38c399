import { expect, it } from "vitest";
import { summarize } from "./offline-list";

it("says how far an agent gets without a model", () => {
  const runs = { mode: "runs" } as const;
  const limited = { mode: "limited" } as const;
  const needs = { mode: "needs_model" } as const;
  expect(summarize([runs])).toBe("Runs offline");
  expect(summarize([runs, limited, limited])).toBe("Runs offline, 2 steps limited");
  expect(summarize([limited, needs])).toBe("1 step needs a model");
  expect(summarize([needs, needs])).toBe("2 steps need a model");
});
