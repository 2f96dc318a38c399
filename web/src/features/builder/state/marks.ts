/** What is drawn on top of the graph: findings of the validation, and where a call is and has been. */

import { createContext, useContext } from "react";
import { type Findings, NO_FINDINGS } from "../../../graph/problems";

export interface Marks {
  findings: Findings;
  liveId: string | null;
  visited: ReadonlySet<string>;
}

const Context = createContext<Marks>({ findings: NO_FINDINGS, liveId: null, visited: new Set() });

export const MarksProvider = Context.Provider;

export function useMarks(): Marks {
  return useContext(Context);
}
