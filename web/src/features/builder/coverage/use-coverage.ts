/** Which coverage the canvas shows, and what is known about it. */

import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { createContext, useContext, useMemo, useState } from "react";
import { api, unwrap } from "../../../lib/api/client";
import { type CallCoverage, type CoverageMarks, type CoverageSource, marksOf, type ScenarioCoverage } from "./coverage";

const CALLS_FRESH_MS = 60_000;

export interface CoverageView {
  source: CoverageSource;
  choose: (source: CoverageSource) => void;
  scenarios: UseQueryResult<ScenarioCoverage>;
  calls: UseQueryResult<CallCoverage>;
  /** What to draw; null while it is off, is not known, or no conversation took anything. */
  marks: CoverageMarks | null;
}

const Context = createContext<CoverageView | null>(null);
export const CoverageProvider = Context.Provider;

export function useCoverageContext(): CoverageView {
  const view = useContext(Context);
  if (view === null) throw new Error("outside of an editor");
  return view;
}

export function useCoverage(agentId: number): CoverageView {
  const [source, choose] = useState<CoverageSource>("off");
  const params = { path: { workflow_id: agentId } };
  const scenarios = useQuery({
    queryKey: ["agent", agentId, "scenario-coverage"],
    enabled: source === "scenarios",
    queryFn: () => unwrap(api.GET("/api/v1/workflow/{workflow_id}/scenario-coverage", { params })),
  });
  const calls = useQuery({
    queryKey: ["agent", agentId, "call-coverage"],
    enabled: source === "calls",
    staleTime: CALLS_FRESH_MS,
    queryFn: () => unwrap(api.GET("/api/v1/workflow/{workflow_id}/call-coverage", { params })),
  });
  const { data: played } = scenarios;
  const { data: held } = calls;
  const marks = useMemo(() => {
    if (source === "scenarios" && played !== undefined && played.passed > 0) return marksOf(played, "scenario");
    if (source === "calls" && held !== undefined && held.calls > 0) return marksOf(held, "call");
    return null;
  }, [source, played, held]);
  return { source, choose, scenarios, calls, marks };
}
