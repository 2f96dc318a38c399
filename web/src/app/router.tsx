/** Which address shows which page. */

import { createRootRoute, createRoute, createRouter, Outlet, redirect } from "@tanstack/react-router";
import { SignInPage } from "../features/auth";
import { token } from "../lib/session";
import { AgentScreen } from "./agent_screen";
import { AgentsScreen } from "./agents_screen";
import { NotFound } from "./not_found";
import { RunScreen } from "./run_screen";
import { Shell } from "./shell";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

interface SignInSearch {
  token?: string;
  next?: string;
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search: Record<string, unknown>): SignInSearch => ({
    ...(typeof search["token"] === "string" ? { token: search["token"] } : {}),
    ...(typeof search["next"] === "string" ? { next: search["next"] } : {}),
  }),
  component: SignInPage,
});

const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  beforeLoad: ({ location }) => {
    if (token() === null) throw redirect({ to: "/sign-in", search: location.pathname === "/" ? {} : { next: location.pathname } });
  },
  component: Shell,
});

const parseId = (raw: string) => {
  const id = Number(raw);
  return Number.isSafeInteger(id) ? id : 0;
};

const agents = createRoute({ getParentRoute: () => signedIn, path: "/", component: AgentsScreen });

const agent = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$agentId",
  params: { parse: ({ agentId }) => ({ agentId: parseId(agentId) }), stringify: ({ agentId }) => ({ agentId: String(agentId) }) },
  component: AgentScreen,
});

const run = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$agentId/runs/$runId",
  params: {
    parse: ({ agentId, runId }) => ({ agentId: parseId(agentId), runId: parseId(runId) }),
    stringify: ({ agentId, runId }) => ({ agentId: String(agentId), runId: String(runId) }),
  },
  component: RunScreen,
});

export const router = createRouter({
  routeTree: root.addChildren([signIn, signedIn.addChildren([agents, agent, run])]),
  defaultPreload: false,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
