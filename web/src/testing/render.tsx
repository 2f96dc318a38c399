/** Renders a part of the page as the app does: with its theme, its requests and an address. */

import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { render, screen } from "@testing-library/react";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import type { ReactNode } from "react";
import { FakeServer, network } from "./server";

interface Rendered {
  user: UserEvent;
  server: FakeServer;
}

/** `server` answers what is asked from the first moment on; `path` is the address at which the part stands. */
export async function renderPart(
  part: ReactNode,
  { server = new FakeServer(), path = "/" }: { server?: FakeServer; path?: string } = {},
): Promise<Rendered> {
  network.server = server;
  const root = createRootRoute({ component: Outlet });
  const routes = [path, ...(path === "/" ? [] : ["/"])].map((one) =>
    createRoute({ getParentRoute: () => root, path: one, component: () => (one === path ? part : "elsewhere") }),
  );
  const router = createRouter({
    routeTree: root.addChildren(routes),
    history: createMemoryHistory({ initialEntries: [path] }),
  });
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={queries}>
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  await router.load();
  return { user: userEvent.setup({ delay: null }), server };
}

/** Chooses one entry of a list that opens below its field. */
export async function chooseOption(user: UserEvent, field: string | RegExp, option: string | RegExp): Promise<void> {
  await user.click(screen.getByRole("combobox", { name: field }));
  await user.click(await screen.findByRole("option", { name: option }));
}
