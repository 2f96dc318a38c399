/** Which steps may use a tool or a document, seen from the tool or the document. */

import type { Definition, Step } from "./definition";
import { setStepData } from "./editing/edit";
import type { NodeSpec } from "./specs";

/** Fields that name it; what is added is written to the first. */
export type Names = readonly [string, ...string[]];
export const TOOLS: Names = ["tool_uuids"];
export const DOCUMENTS: Names = ["document_refs", "document_uuids"];

/** The steps whose kind has such a field. */
export function ableSteps(definition: Definition, specs: ReadonlyMap<string, NodeSpec>, [name]: Names): Step[] {
  return definition.nodes.filter(
    (node) => specs.get(node.type)?.properties.some((property) => property.name === name) === true,
  );
}

function listed(step: Step, name: string): unknown[] {
  const value = step.data[name];
  return Array.isArray(value) ? value : [];
}

export function usersOf(steps: readonly Step[], names: Names, id: string): string[] {
  return steps.filter((step) => names.some((name) => listed(step, name).includes(id))).map((step) => step.id);
}

/** The definition in which exactly these of the steps use it. */
export function withUsers(
  definition: Definition,
  steps: readonly Step[],
  names: Names,
  id: string,
  users: readonly string[],
): Definition {
  const before = new Set(usersOf(steps, names, id));
  const after = new Set(users);
  return steps.reduce((next, step) => {
    if (before.has(step.id) === after.has(step.id)) return next;
    if (after.has(step.id)) return setStepData(next, step.id, { [names[0]]: [...listed(step, names[0]), id] });
    const without = names
      .filter((name) => listed(step, name).includes(id))
      .map((name) => [name, listed(step, name).filter((other) => other !== id)] as const);
    return setStepData(
      next,
      step.id,
      Object.fromEntries(without.map(([name, rest]) => [name, rest.length === 0 ? undefined : rest])),
    );
  }, definition);
}
