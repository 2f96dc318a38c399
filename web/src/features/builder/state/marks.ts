/** What is drawn on top of the graph: issues of the validation, and where a call is and has been. */

import { createContext, useContext } from "react";
import { type ValidationIssues, NO_ISSUES } from "../../../graph/validation-issues";

export interface Marks {
  validationIssues: ValidationIssues;
  liveId: string | null;
  visited: ReadonlySet<string>;
}

const Context = createContext<Marks>({ validationIssues: NO_ISSUES, liveId: null, visited: new Set() });

export const MarksProvider = Context.Provider;

export function useMarks(): Marks {
  return useContext(Context);
}
