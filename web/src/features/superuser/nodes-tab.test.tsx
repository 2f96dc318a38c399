import { screen, waitFor } from "@testing-library/react";
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

const spool = {
  id: "0a1b",
  node_id: "a-1",
  place: "host-a:/data/files/recordings",
  files: 3,
  bytes: 4_000_000,
  oldest_at: "2026-01-01T00:00:00Z",
  error: "The bucket does not exist.",
  failed_at: "2026-01-01T00:00:00Z",
  seen_at: "2026-01-01T00:00:00Z",
  is_tried: true,
};

function answerWith(nodes: object[], waiting_recordings: object[]) {
  return { body: { nodes, waiting_recordings, orphaned_leases: 0, queued_jobs: 2, oldest_job_s: 1.6 } };
}

function serverWith(nodes: object[], jobs: object[], spools: object[] = []): FakeServer {
  const server = new FakeServer();
  server.on(NODES, answerWith(nodes, spools));
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

it("shows recordings that wait, and removes those of a machine that is gone", async () => {
  const gone = { ...spool, id: "ff00", place: "host-b:/data", is_tried: false, error: null };
  const server = serverWith([node], [], [spool, gone]);
  server.on("DELETE /api/v1/superuser/recording-spools/ff00", { body: { removed: 3 } });
  const { user } = await renderPart(<NodesTab />, { server });
  expect(await screen.findByText("The bucket does not exist.")).toBeTruthy();
  expect(screen.getAllByText("4.0 MB")).toHaveLength(2);
  expect(screen.queryByRole("button", { name: `Remove ${spool.place}` })).toBeNull();
  await user.click(screen.getByRole("button", { name: "Remove host-b:/data" }));
  server.on(NODES, answerWith([node], [spool]));
  await user.click(await screen.findByRole("button", { name: "Remove" }));
  await waitFor(() => expect(screen.queryByText("host-b")).toBeNull());
  expect(server.sent.map((one) => one.route)).toEqual(["DELETE /api/v1/superuser/recording-spools/ff00"]);
});

it("has no list of waiting recordings while none wait", async () => {
  await renderPart(<NodesTab />, { server: serverWith([node], []) });
  expect(await screen.findByText("3 of 120")).toBeTruthy();
  expect(screen.queryByText("Recordings waiting for upload")).toBeNull();
});
