/** Which step of a new campaign is shown. Each step is an entry of the browser's history, in order. */

import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";

const STEPS = [2, 3] as const;

interface StepSearch {
  /** Counted from 1, and absent at the first one. */
  step?: (typeof STEPS)[number];
}

export function readStep(raw: Record<string, unknown>): StepSearch {
  const step = STEPS.find((one) => one === raw["step"]);
  return step === undefined ? {} : { step };
}

/** Steps from 0. One that is asked for before the first one is done is the first one: a page that was loaded again is empty. */
export function useWizardSteps(isFirstDone: boolean): { step: number; goTo: (step: number) => void } {
  const asked = (readStep(useSearch({ strict: false })).step ?? 1) - 1;
  const navigate = useNavigate();
  const router = useRouter();
  const isEarly = asked > 0 && !isFirstDone;
  useEffect(() => {
    if (isEarly) void navigate({ to: "/campaigns/new", search: {}, replace: true });
  }, [isEarly, navigate]);
  const step = isEarly ? 0 : asked;
  const goTo = (next: number) => {
    if (next < step) router.history.go(next - step);
    else void walk(step, next);
  };
  const walk = async (from: number, to: number) => {
    for (let at = from + 1; at <= to; at += 1)
      await navigate({ to: "/campaigns/new", search: readStep({ step: at + 1 }) });
  };
  return { step, goTo };
}
