/** Where the labels of edges are drawn: looked for once for all of them, and nowhere while they could not be read. */

import { createContext, useContext } from "react";

const Context = createContext<Element | null>(null);

export const LabelLayer = Context.Provider;

export function useLabelLayer(): Element | null {
  return useContext(Context);
}
