/** Which variables of an agent the columns of a contact file fill. */

import { useQuery } from "@tanstack/react-query";
import { parse } from "../../../graph/definition";
import { type GivenVariable, givenVariables } from "../../../graph/variables";
import { api, unwrap } from "../../../lib/api/client";

/** What the published version of an agent wants to know at the start of a call; undefined until it is known. */
export function useGivenVariables(agentId: string | null): GivenVariable[] | undefined {
  const id = Number(agentId);
  const versions = useQuery({
    queryKey: ["agent", id, "versions"],
    enabled: agentId !== null,
    queryFn: () =>
      unwrap(api.GET("/api/v1/workflow/{workflow_id}/versions", { params: { path: { workflow_id: id } } })),
  });
  const published = versions.data?.find((version) => version.status === "published");
  return published && givenVariables(parse(published.workflow_json), published.template_context_variables);
}

export interface Unfilled extends GivenVariable {
  /** The place of the column that is probably meant; null without one. */
  column: number | null;
}

/** The variables that no column is named for. "First name" is probably meant for `first_name`. */
export function unfilledVariables(columns: readonly string[], given: readonly GivenVariable[]): Unfilled[] {
  const isFree = (column: string) => column !== "phone_number" && given.every(({ name }) => name !== column);
  return given
    .filter(({ name }) => !columns.includes(name))
    .map((variable) => {
      const at = columns.findIndex((column) => isFree(column) && lettersOf(column) === lettersOf(variable.name));
      return { ...variable, column: at === -1 ? null : at };
    });
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}
