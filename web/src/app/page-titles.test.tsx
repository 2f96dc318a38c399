/** Tabs and the history of a browser tell pages apart by their titles. */

import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { render, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { SECTIONS } from "../features/settings/sections";
import { makeQueries } from "../testing/queries";
import { signIn } from "../testing/render";
import { FakeServer, network } from "../testing/server";
import { makeRouter } from "./router";

/** The pages of one address, by the path of their route. */
const TITLES: Record<string, { address: string; title: string }> = {
  "/sign-in": { address: "/sign-in", title: "Sign in" },
  "/sign-in/callback": { address: "/sign-in/callback", title: "Signing in" },
  "/invitation": { address: "/invitation", title: "Invitation" },
  "/": { address: "/", title: "Agents" },
  "/agents/$agentId": { address: "/agents/1", title: "Agent" },
  "/agents/$agentId/runs/$runId": { address: "/agents/1/runs/2", title: "Run" },
  "/runs/$runId": { address: "/runs/4", title: "Run 4" },
  "/runs": { address: "/runs", title: "Runs" },
  "/campaigns": { address: "/campaigns", title: "Campaigns" },
  "/campaigns/new": { address: "/campaigns/new", title: "New campaign" },
  "/campaigns/$campaignId": { address: "/campaigns/3", title: "Campaign" },
  "/overview": { address: "/overview", title: "Overview" },
  "/usage": { address: "/usage", title: "Usage" },
  "/knowledge": { address: "/knowledge", title: "Knowledge" },
  "/phone": { address: "/phone", title: "Phone" },
  "/superuser": { address: "/superuser", title: "Superuser" },
  "/$": { address: "/no/such/page", title: "Page not found" },
};
const PAGES = [
  ...Object.values(TITLES),
  ...SECTIONS.map(({ key, title }) => ({ address: `/settings/${key}`, title: `${title} settings` })),
];

it("has an entry here for each route", () => {
  const paths = Object.keys(makeRouter(createMemoryHistory()).routesByPath).filter(
    (path) => !path.startsWith("/settings"),
  );
  expect(paths.sort()).toEqual(Object.keys(TITLES).sort());
  expect(new Set(PAGES.map(({ title }) => title)).size).toBe(PAGES.length);
});

it.each(PAGES)("$address is titled $title", async ({ address, title }) => {
  const server = new FakeServer();
  server.hold("GET /api/v1/organizations/usage/runs", { body: { items: [] } });
  // An agent that does not exist has the title of a page that does not exist: this one is still loading.
  server.hold("GET /api/v1/workflow/fetch/1", { body: {} });
  if (!["/sign-in", "/invitation"].includes(address)) signIn(server, "admin", { organization: { name: "Acme" } });
  server.on("GET /api/v1/auth/me", { body: { email: "me@example.com", role: "admin", is_superuser: true } });
  network.server = server;
  document.title = "another page";
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={makeQueries()}>
        <RouterProvider router={makeRouter(createMemoryHistory({ initialEntries: [address] }))} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  await waitFor(() => expect(document.title).toBe(`${title} · Offhook`));
});
