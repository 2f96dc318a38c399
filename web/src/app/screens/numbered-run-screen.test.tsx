import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { render, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { makeQueries } from "../../testing/queries";
import { signIn } from "../../testing/render";
import { FakeServer, network } from "../../testing/server";
import { makeRouter } from "../router";

const RUNS = "/api/v1/organizations/usage/runs";

function open(address: string, items: { id: number; workflow_id: number }[]) {
  const server = new FakeServer();
  signIn(server, "member", { organization: { name: "Acme" } });
  server.on(`GET ${RUNS}`, { body: { items } });
  network.server = server;
  const history = createMemoryHistory({ initialEntries: [address] });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={makeQueries()}>
        <RouterProvider router={makeRouter(history)} />
      </QueryClientProvider>
    </MantineProvider>,
  );
  return history;
}

it("leads from a run's number to its page, and to the same moment", async () => {
  const history = open("/runs/9?at=12", [{ id: 9, workflow_id: 3 }]);
  await waitFor(() => expect(history.location.href).toBe("/agents/3/runs/9?at=12"));
  expect(history.length).toBe(1);
});

it.each(["/runs/404", "/runs/last", "/runs/0"])("says that %s is no page", async (address) => {
  open(address, []);
  expect(await screen.findByRole("heading", { name: "Page not found" })).toBeTruthy();
});
