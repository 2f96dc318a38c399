/** What is drawn on top of the graph: issues of the validation, where a call is and has been, and coverage. */

import { createContext, useContext } from "react";
import { type ValidationIssues, NO_ISSUES } from "../../../graph/validation-issues";
import type { CoverageMarks } from "../coverage/coverage";

export interface Marks {
  validationIssues: ValidationIssues;
  liveId: string | null;
  visited: ReadonlySet<string>;
  coverage: CoverageMarks | null;
}

const Context = createContext<Marks>({ validationIssues: NO_ISSUES, liveId: null, visited: new Set(), coverage: null });

export const MarksProvider = Context.Provider;

export function useMarks(): Marks {
  return useContext(Context);
}
