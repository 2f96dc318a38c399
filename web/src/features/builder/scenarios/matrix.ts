/** The last result of each scenario with each version, as a table. Pure. */

import type { Schema } from "../../../lib/api/types";
import type { LatestResult } from "./api";
import { type PlainScenario, titleOf } from "./scenario";

export type Version = Schema<"WorkflowVersionResponse">;

/** How many versions stand beside each other, newest first; the server keeps results of as many. */
export const MAX_VERSIONS = 10;

export interface MatrixColumn {
  number: number;
  /** "Draft", or "Version 3". */
  title: string;
  /** The same within a sentence. */
  runsWith: string;
  isPublished: boolean;
}

export interface MatrixRow {
  name: string;
  title: string;
  /** The version that is open has it. */
  isThere: boolean;
  /** In the order of the columns; null: not run with that version. */
  cells: (LatestResult | null)[];
}

export function matrixColumns(versions: readonly Pick<Version, "version_number" | "status">[]): MatrixColumn[] {
  return [...versions]
    .sort((one, other) => other.version_number - one.version_number)
    .slice(0, MAX_VERSIONS)
    .map(({ version_number: number, status }) => ({
      number,
      title: status === "draft" ? "Draft" : `Version ${number}`,
      runsWith: status === "draft" ? "the draft" : `version ${number}`,
      isPublished: status === "published",
    }));
}

/** Scenarios of the open version in their order, then those that only an older version was run with. */
export function matrixRows(
  scenarios: readonly PlainScenario[],
  results: readonly LatestResult[],
  columns: readonly MatrixColumn[],
): MatrixRow[] {
  const numbers = new Set(columns.map(({ number }) => number));
  const titles = new Map(scenarios.map((scenario) => [scenario.name, titleOf(scenario)]));
  const own = new Set(titles.keys());
  const shown = results.filter((result) => numbers.has(result.version_number));
  for (const result of shown) if (!titles.has(result.name)) titles.set(result.name, result.title);
  const cells = new Map(shown.map((result) => [`${result.version_number} ${result.name}`, result]));
  return [...titles].map(([name, title]) => ({
    name,
    title,
    isThere: own.has(name),
    cells: columns.map(({ number }) => cells.get(`${number} ${name}`) ?? null),
  }));
}
