/** A color for each result, by its place in the agent's definition. */

import { SERIES } from "../../../lib/format/colors";

export function resultColor(index: number): string {
  return SERIES[index % SERIES.length] ?? SERIES[0];
}
