/** Short names for the shapes of the API that several features use. */

import type { components } from "./api";

type Schemas = components["schemas"];

export type Agent = Schemas["WorkflowResponse"];
export type AgentItem = Schemas["WorkflowListResponse"];
export type Validation = Schemas["ValidateWorkflowResponse"];
export type Run = Schemas["RunRecord"];
export type RunDetail = Schemas["RunDetail"];
