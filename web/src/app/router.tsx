/** Which address shows which page; each page comes when it is first opened. */

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  type RouterHistory,
} from "@tanstack/react-router";
import type { ComponentType } from "react";
import { InvitationPage, ProviderCallbackPage, SignInPage } from "../features/auth";
import { readStep } from "../features/campaigns/create/wizard-steps";
import { readPlace } from "../features/runs/player/place";
import { readAgentPlace } from "./screens/agent-place";
import { readRunSearch } from "../features/runs/list/search";
import { currentToken } from "../lib/api/session";
import { ErrorScreen } from "./screens/error-screen";
import { NotFound } from "./screens/not-found";
import { Shell } from "./shell/shell";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

interface SignInSearch {
  token?: string;
  next?: string;
  organization?: string;
}

interface ProviderAnswer {
  code?: string;
  state?: string;
  iss?: string;
  error?: string;
}

const text = (search: Record<string, unknown>, name: string) =>
  typeof search[name] === "string" ? { [name]: search[name] } : {};

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search: Record<string, unknown>): SignInSearch => ({
    ...text(search, "token"),
    ...text(search, "next"),
    ...text(search, "organization"),
  }),
  component: SignInPage,
});

const providerCallback = createRoute({
  getParentRoute: () => root,
  path: "/sign-in/callback",
  validateSearch: (search: Record<string, unknown>): ProviderAnswer => ({
    ...text(search, "code"),
    ...text(search, "state"),
    ...text(search, "iss"),
    ...text(search, "error"),
  }),
  component: ProviderCallbackPage,
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitation",
  validateSearch: (search: Record<string, unknown>): { token?: string } => text(search, "token"),
  component: InvitationPage,
});

const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  beforeLoad: ({ location }) => {
    if (currentToken() === null)
      throw redirect({ to: "/sign-in", search: location.pathname === "/" ? {} : { next: location.href } });
  },
  component: Shell,
});

/** Every other address: with the places beside it, so that one finds out again. */
const notFoundRoute = createRoute({ getParentRoute: () => signedIn, path: "$", component: NotFound });

const parseId = (raw: string) => {
  const id = Number(raw);
  return Number.isSafeInteger(id) ? id : 0;
};

const agents = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  validateSearch: (raw: Record<string, unknown>): { create?: true } => (raw["create"] === true ? { create: true } : {}),
  component: lazyRouteComponent(() => import("./screens/agents-screen"), "AgentsScreen"),
});

const agent = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$agentId",
  params: {
    parse: ({ agentId }) => ({ agentId: parseId(agentId) }),
    stringify: ({ agentId }) => ({ agentId: String(agentId) }),
  },
  staticData: { isWide: true },
  validateSearch: readAgentPlace,
  component: lazyRouteComponent(() => import("./screens/agent-screen"), "AgentScreen"),
});

const run = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$agentId/runs/$runId",
  params: {
    parse: ({ agentId, runId }) => ({ agentId: parseId(agentId), runId: parseId(runId) }),
    stringify: ({ agentId, runId }) => ({ agentId: String(agentId), runId: String(runId) }),
  },
  validateSearch: readPlace,
  component: lazyRouteComponent(() => import("./screens/run-screen"), "RunScreen"),
});

/** A run by its number alone, as people paste it. */
const runByNumber = createRoute({
  getParentRoute: () => signedIn,
  path: "/runs/$runId",
  params: { parse: ({ runId }) => ({ runId: parseId(runId) }), stringify: ({ runId }) => ({ runId: String(runId) }) },
  validateSearch: readPlace,
  component: lazyRouteComponent(() => import("./screens/numbered-run-screen"), "NumberedRunScreen"),
});

const runs = createRoute({
  getParentRoute: () => signedIn,
  path: "/runs",
  validateSearch: readRunSearch,
  component: lazyRouteComponent(() => import("../features/runs"), "RunsPage"),
});

const campaigns = createRoute({
  getParentRoute: () => signedIn,
  path: "/campaigns",
  component: lazyRouteComponent(() => import("../features/campaigns"), "CampaignsPage"),
});

const newCampaign = createRoute({
  getParentRoute: () => signedIn,
  path: "/campaigns/new",
  validateSearch: readStep,
  component: lazyRouteComponent(() => import("../features/campaigns"), "NewCampaignPage"),
});

const campaign = createRoute({
  getParentRoute: () => signedIn,
  path: "/campaigns/$campaignId",
  params: {
    parse: ({ campaignId }) => ({ campaignId: parseId(campaignId) }),
    stringify: ({ campaignId }) => ({ campaignId: String(campaignId) }),
  },
  component: lazyRouteComponent(() => import("../features/campaigns"), "CampaignPage"),
});

const page = <Path extends string>(path: Path, load: () => Promise<{ default: ComponentType }>) =>
  createRoute({ getParentRoute: () => signedIn, path, component: lazyRouteComponent(load) });

const overview = page("/overview", async () => ({ default: (await import("../features/usage")).OverviewPage }));
const usage = page("/usage", async () => ({ default: (await import("../features/usage")).UsagePage }));
const knowledge = page("/knowledge", async () => ({ default: (await import("../features/knowledge")).KnowledgePage }));
const phone = page("/phone", async () => ({ default: (await import("../features/phone")).PhonePage }));
const superuser = page("/superuser", async () => ({ default: (await import("../features/superuser")).SuperuserPage }));

const settings = createRoute({
  getParentRoute: () => signedIn,
  path: "/settings",
  beforeLoad: ({ location }) => {
    if (location.pathname.replace(/\/$/, "") === "/settings")
      throw redirect({ to: "/settings/$section", params: { section: "organization" } });
  },
  component: lazyRouteComponent(() => import("../features/settings"), "SettingsPage"),
});

const settingsSection = createRoute({
  getParentRoute: () => settings,
  path: "$section",
  component: lazyRouteComponent(() => import("../features/settings"), "SettingsSection"),
});

const routeTree = root.addChildren([
  signIn,
  providerCallback,
  invitation,
  signedIn.addChildren([
    agents,
    agent,
    run,
    runs,
    runByNumber,
    campaigns,
    newCampaign,
    campaign,
    overview,
    usage,
    knowledge,
    phone,
    superuser,
    settings.addChildren([settingsSection]),
    notFoundRoute,
  ]),
]);

/** `history` is the browser's unless given. */
export const makeRouter = (history?: RouterHistory) =>
  createRouter({
    routeTree,
    ...(history === undefined ? {} : { history }),
    defaultPreload: "intent",
    defaultErrorComponent: ErrorScreen,
    scrollRestoration: true,
  });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }

  interface StaticDataRouteOption {
    /** Takes the whole width beside the navigation. */
    isWide?: boolean;
  }
}
