/** What of a stored version is compared with another one. */

import { parse } from "../../../graph/definition";
import type { Version as Content } from "../../../graph/diff";
import type { Schema } from "../../../lib/api/types";

export type Version = Schema<"WorkflowVersionResponse">;

export function versionContent(version: Version | undefined): Content {
  return {
    definition: parse(version?.workflow_json),
    settings: {
      ...version?.workflow_configurations,
      ...(version && Object.keys(version.template_context_variables).length > 0
        ? { variables: version.template_context_variables }
        : {}),
    },
  };
}
