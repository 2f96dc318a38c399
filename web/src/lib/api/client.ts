/** The one client of the API: typed by the OpenAPI document, signed with the token, failing with `ApiError`. */

import createClient, { type Middleware } from "openapi-fetch";
import type { paths } from "./api";
import { errorFrom, fetchOrFail } from "./errors";
import * as session from "./session";

const signing: Middleware = {
  onRequest({ request }) {
    const token = session.currentToken();
    if (token !== null) request.headers.set("Authorization", `Bearer ${token}`);
    return request;
  },
  onResponse({ request, response }) {
    const isSigningIn = /\/auth\/(link|login|second-step|signup|password|invitations\/\w+)$/.test(
      new URL(request.url).pathname,
    );
    const sent = request.headers.get("Authorization")?.replace(/^Bearer /, "") ?? null;
    if (response.status === 401 && !isSigningIn) session.expireSession(sent);
    return response;
  },
};

export const api = createClient<paths>({ baseUrl: "", fetch: fetchOrFail });
api.use(signing);

/** The body of a successful answer; every other answer is thrown. */
export async function unwrap<T>(pending: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await pending;
  if (!response.ok) throw errorFrom(response.status, error);
  return data as T;
}
