/** Renders a part of the page as the app does: with its theme, its requests and an address. */

import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  type RouterHistory,
  RouterProvider,
} from "@tanstack/react-router";
import { render, screen } from "@testing-library/react";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import type { ReactNode } from "react";
import { startSession } from "../lib/api/session";
import type { Role } from "../lib/api/types";
import { makeQueries } from "./queries";
import { FakeServer, network } from "./server";

interface Rendered {
  user: UserEvent;
  server: FakeServer;
  history: RouterHistory;
}

interface Place {
  /** Answers what is asked from the first moment on. */
  server?: FakeServer;
  /** The route at which the part is shown. */
  path?: string;
  /** What follows the path in the address, `?token=…`. */
  search?: string;
}

export async function renderPart(
  part: ReactNode,
  { server = new FakeServer(), path = "/", search = "" }: Place = {},
): Promise<Rendered> {
  network.server = server;
  const root = createRootRoute({ component: Outlet, notFoundComponent: () => "elsewhere" });
  const routes = [path, ...(path === "/" ? [] : ["/"])].map((one) =>
    createRoute({ getParentRoute: () => root, path: one, component: () => (one === path ? part : "elsewhere") }),
  );
  const router = createRouter({
    routeTree: root.addChildren(routes),
    history: createMemoryHistory({ initialEntries: [path + search] }),
  });
  const queries = makeQueries();
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={queries}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  await router.load();
  return { user: userEvent.setup({ delay: null }), server, history: router.history };
}

/** Signs in a user with this role; `context` adds to what the server tells about the organization. */
export function signIn(server: FakeServer, role: Role, context: object = {}): void {
  startSession("token");
  server.on("GET /api/v1/organizations/context", { body: { role, ...context } });
}

/** Chooses one entry of a list that opens below its field. */
export async function chooseOption(user: UserEvent, field: string | RegExp, option: string | RegExp): Promise<void> {
  await user.click(screen.getByRole("combobox", { name: field }));
  await user.click(await screen.findByRole("option", { name: option }));
}
