// Stand-in until docs/openapi.json exists; same shape as openapi-typescript's output.
type Json = Record<string, unknown>;
type Content<T> = { content: { "application/json": T } };
type Params<Path, Query = never> = ([Path] extends [never] ? object : { path: Path }) & ([Query] extends [never] ? object : { query?: Query });
type Get<Path, Answer, Query = never> = { parameters: Params<Path, Query>; responses: { 200: Content<Answer> & { headers: Json } } };
type Post<Path, Answer, Body = never> = {
  parameters: Params<Path>;
  requestBody: { content: { "application/json": Body } };
  responses: { 200: Content<Answer> & { headers: Json } };
};
type Act<Path, Answer> = { parameters: Params<Path>; responses: { 200: Content<Answer> & { headers: Json } } };
type Wid = { workflow_id: number };

export interface components {
  schemas: {
    UserOut: { id: number; email: string; name: string | null; organization_id: number; role: string; is_superuser: boolean };
    SignedIn: { token: string; user: components["schemas"]["UserOut"] };
    Definition: Json;
    WorkflowResponse: {
      id: number; name: string; status: string; created_at: string; updated_at: string; workflow_uuid: string;
      workflow_definition: Json; workflow_configurations: Json; version_number: number; version_status: string;
      published_version_number: number | null; has_draft: boolean; total_runs: number;
    };
    WorkflowListResponse: {
      id: number; name: string; status: string; folder_id: number | null; created_at: string; total_runs: number; workflow_uuid: string;
      published_version_number: number | null; has_draft: boolean;
    };
    Problem: { kind: string; id: string | null; field: string | null; code: string; message: string };
    ValidateWorkflowResponse: { is_valid: boolean; errors: components["schemas"]["Problem"][]; warnings: components["schemas"]["Problem"][] };
    CreateWorkflowRunResponse: { id: number; workflow_run_id: number; media_url: string | null; media_token: string | null; status: string };
    RunRecord: {
      id: number; workflow_id: number; workflow_name: string; name: string; mode: string; direction: string; status: string; outcome: string | null;
      phone_number: string | null; version_number: number; created_at: string; started_at: string | null; answered_at: string | null; ended_at: string | null;
      duration: number | null; cost_cents: number; end_reason: string | null; gathered_context: Json; initial_context: Json;
      transcript_url: string | null; recording_url: string | null; latency: { p50_ms: number | null; p95_ms: number | null; turns: number }; tags: string[];
    };
    RunDetail: components["schemas"]["RunRecord"] & { events: { seq: number; type: string; at_ms: number; data: Json }[]; transcript: Json[] };
    RunList: { runs: components["schemas"]["RunRecord"][]; total_count: number; page: number; limit: number; total_pages: number };
    TextChat: { id: number; messages: { role: "caller" | "agent"; text: string }[]; status: string; is_over: boolean };
  };
}

type S = components["schemas"];
export interface paths {
  "/api/v1/auth/link": { post: Post<never, S["SignedIn"], { token: string }> };
  "/api/v1/auth/login": { post: Post<never, S["SignedIn"], { email: string; password: string }> };
  "/api/v1/auth/signup": { post: Post<never, S["SignedIn"], { email: string; password: string; name?: string; organization_name?: string }> };
  "/api/v1/auth/logout": { post: Act<never, Json> };
  "/api/v1/auth/me": { get: Get<never, S["UserOut"]> };
  "/api/v1/workflow/fetch": { get: Get<never, S["WorkflowListResponse"][], { status?: string }> };
  "/api/v1/workflow/fetch/{workflow_id}": { get: Get<Wid, S["WorkflowResponse"]> };
  "/api/v1/workflow/create/definition": { post: Post<never, S["WorkflowResponse"], { name: string; workflow_definition: Json }> };
  "/api/v1/workflow/{workflow_id}/validate": { post: Act<Wid, S["ValidateWorkflowResponse"]> };
  "/api/v1/workflow/{workflow_id}/publish": { post: Act<Wid, Json> };
  "/api/v1/workflow/{workflow_id}/runs": {
    post: Post<Wid, S["CreateWorkflowRunResponse"], { mode: string; name?: string; initial_context?: Json }>;
    get: Get<Wid, S["RunList"], { page?: number; limit?: number; sort_order?: "asc" | "desc" }>;
  };
  "/api/v1/workflow/{workflow_id}/runs/{run_id}": { get: Get<Wid & { run_id: number }, S["RunDetail"]> };
  "/api/v1/workflow/{workflow_id}/text-chat/sessions": { post: Post<Wid, S["TextChat"], Json> };
  "/api/v1/workflow/{workflow_id}/text-chat/sessions/{run_id}/messages": { post: Post<Wid & { run_id: number }, S["TextChat"], { text: string }> };
  "/api/v1/workflow/{workflow_id}/text-chat/sessions/{run_id}/end": { post: Act<Wid & { run_id: number }, S["TextChat"]> };
  "/api/v1/organizations/model-configurations/v2": { get: Get<never, Json> };
}
