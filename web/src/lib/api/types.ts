/** Short names for the shapes of the API that several features use. */

import type { components } from "./api";

type Schemas = components["schemas"];

/** Any shape of the API by its name. */
export type Schema<Name extends keyof Schemas> = Schemas[Name];

export type Role = Schemas["MeResponse"]["role"];
export type Agent = Schemas["WorkflowResponse"];
export type AgentItem = Schemas["WorkflowListResponse"];
export type Template = Schemas["TemplateResponse"];
export type Validation = Schemas["ValidateWorkflowResponse"];
export type Run = Schemas["RunRecord"];
export type RunDetail = Schemas["RunDetail"];
