import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../testing/render";
import { FakeServer } from "../../testing/server";
import { NodesTab } from "./nodes-tab";

const NODES = "GET /api/v1/superuser/nodes";
const FAILED = "GET /api/v1/superuser/failed-jobs";
const RETRY = "POST /api/v1/superuser/failed-jobs/7/retry";

const node = {
  id: "a-1",
  kind: "serve",
  state: "up",
  address: "http://10.0.0.1:8480",
  version: "0.1.0",
  call_limit: 120,
  live_calls: 3,
  lateness_ms: 1,
  silent_s: 0.5,
  leases: 3,
  expired_leases: 0,
  started_at: "2026-01-01T00:00:00Z",
};

function serverWith(nodes: object[], jobs: object[]): FakeServer {
  const server = new FakeServer();
  server.on(NODES, { body: { nodes, orphaned_leases: 0, queued_jobs: 2, oldest_job_s: 1.6 } });
  server.on(FAILED, { body: { jobs } });
  return server;
}

it("says that a process drains and for how many calls it waits", async () => {
  const server = serverWith([node, { ...node, id: "b-2", state: "draining", live_calls: 2 }], []);
  await renderPart(<NodesTab />, { server });
  expect(await screen.findByText("Waiting for 2 calls to end; not taking new calls")).toBeTruthy();
  expect(screen.getByText("3 of 120")).toBeTruthy();
  expect(screen.getByText("2 background jobs waiting, the oldest for 2 s.")).toBeTruthy();
  expect(await screen.findByText("No job has failed")).toBeTruthy();
});

it("starts a failed job again", async () => {
  const job = { id: 7, name: "document.read", attempts: 5, error: "no file", created_at: "2026-01-01T00:00:00Z" };
  const server = serverWith([], [job]);
  server.on(RETRY, { body: { started: 1 } });
  const { user } = await renderPart(<NodesTab />, { server });
  const button = await screen.findByRole("button", { name: "Retry document.read 7" });
  server.on(FAILED, { body: { jobs: [] } });
  await user.click(button);
  expect(await screen.findByText("No job has failed")).toBeTruthy();
  expect(server.sent.map((one) => one.route)).toEqual([RETRY]);
});
