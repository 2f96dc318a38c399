/** The processes of the installation with their calls and leases, recordings waiting for upload, and failed jobs. */

import { Badge, Button, Stack, Table, Text } from "@mantine/core";
import { Empty, Loaded } from "../../components/layout/page";
import { Panel } from "../../components/layout/panel";
import { DataTable } from "../../components/tables/data-table";
import type { Schema } from "../../lib/api/types";
import { formatCount, formatDateTime, formatTimeAgo, humanize, pluralize } from "../../lib/format/format";
import { notifyError, notifySuccess } from "../../lib/ui/notifications";
import { useFailedJobs, useNodes, useRetryJobs } from "./api";
import { WaitingRecordings } from "./waiting-recordings";

type Node = Schema<"NodeItem">;

const COLORS: Record<Node["state"], string> = { up: "brand", draining: "yellow", overloaded: "orange", lost: "red" };

const COLUMNS = [
  { title: "Process" },
  { title: "State" },
  { title: "Calls", isRight: true },
  { title: "Leases", isRight: true },
  { title: "Lateness", isRight: true },
  { title: "Version" },
  { title: "Started" },
];

export function NodesTab() {
  const nodes = useNodes();
  return (
    <Stack gap="md">
      <Panel title="Processes">
        <Loaded query={nodes} what="The processes">
          {(data) => (
            <>
              {data.nodes.length === 0 ? (
                <Empty isInside title="No process has reported">
                  Every server and worker reports every two seconds. If none do, the database is rejecting their
                  reports.
                </Empty>
              ) : (
                <DataTable label="Processes" columns={COLUMNS} minWidth={860} isTight>
                  {data.nodes.map((node) => (
                    <NodeRow key={node.id} node={node} />
                  ))}
                </DataTable>
              )}
              <Text fz="sm" c="dimmed" px="md" py="sm">
                {describeBacklog(data)}
              </Text>
            </>
          )}
        </Loaded>
      </Panel>
      {nodes.data !== undefined && nodes.data.waiting_recordings.length > 0 && (
        <WaitingRecordings spools={nodes.data.waiting_recordings} />
      )}
      <FailedJobs />
    </Stack>
  );
}

function NodeRow({ node }: { node: Node }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Text span fz="sm" fw={600}>
          {node.kind === "serve" ? "Server" : "Worker"}
        </Text>{" "}
        <Text span fz="xs" c="dimmed">
          {node.address ?? node.id}
        </Text>
      </Table.Td>
      <Table.Td>
        <Badge color={COLORS[node.state]}>{humanize(node.state)}</Badge>{" "}
        <Text span fz="xs" c="dimmed">
          {explainState(node)}
        </Text>
      </Table.Td>
      <Table.Td ta="right">
        {node.kind === "serve" ? `${formatCount(node.live_calls)} of ${formatCount(node.call_limit)}` : "–"}
      </Table.Td>
      <Table.Td ta="right">
        {formatCount(node.leases)}
        {node.expired_leases > 0 && ` (${formatCount(node.expired_leases)} expired)`}
      </Table.Td>
      <Table.Td ta="right">{node.lateness_ms} ms</Table.Td>
      <Table.Td>{node.version}</Table.Td>
      <Table.Td c="dimmed">{formatDateTime(node.started_at)}</Table.Td>
    </Table.Tr>
  );
}

function explainState(node: Node): string {
  if (node.state === "draining")
    return `Waiting for ${pluralize(node.live_calls, "call")} to end; not taking new calls`;
  if (node.state === "overloaded") return "Not taking new calls until it catches up";
  return node.state === "lost" ? `No report for ${Math.round(node.silent_s)} s` : "";
}

function describeBacklog(data: Schema<"NodesResponse">): string {
  const waiting =
    data.queued_jobs === 0
      ? "No background job is waiting."
      : `${pluralize(data.queued_jobs, "background job")} waiting, the oldest for ${Math.round(data.oldest_job_s ?? 0)} s.`;
  return data.orphaned_leases === 0
    ? waiting
    : `${waiting} ${pluralize(data.orphaned_leases, "call")} held by lost processes.`;
}

const JOB_COLUMNS = [
  { title: "Job" },
  { title: "Error" },
  { title: "Attempts", isRight: true },
  { title: "Created", isRight: true },
  { title: "Actions", isQuiet: true },
];

function FailedJobs() {
  const failed = useFailedJobs();
  const retry = useRetryJobs();
  const startAgain = (job: number | null) =>
    retry.mutate(job, {
      onSuccess: ({ started }) => notifySuccess(`${pluralize(started, "job")} restarted.`),
      onError: notifyError,
    });
  const everyone = (failed.data?.jobs.length ?? 0) > 1 && (
    <Button size="compact-sm" variant="default" loading={retry.isPending} onClick={() => startAgain(null)}>
      Retry all
    </Button>
  );
  return (
    <Panel title="Failed jobs" right={everyone}>
      <Loaded query={failed} what="The failed jobs">
        {(data) =>
          data.jobs.length === 0 ? (
            <Empty isInside title="No job has failed">
              Background jobs that used up their attempts appear here for a month.
            </Empty>
          ) : (
            <DataTable label="Failed jobs" columns={JOB_COLUMNS} minWidth={700}>
              {data.jobs.map((job) => (
                <Table.Tr key={job.id}>
                  <Table.Td fw={600}>
                    {job.name}{" "}
                    <Text span fz="xs" c="dimmed">
                      {job.id}
                    </Text>
                  </Table.Td>
                  <Table.Td style={{ whiteSpace: "normal" }}>{job.error ?? "No error is on record"}</Table.Td>
                  <Table.Td ta="right">{job.attempts}</Table.Td>
                  <Table.Td ta="right" c="dimmed">
                    {formatTimeAgo(job.created_at)}
                  </Table.Td>
                  <Table.Td ta="right">
                    <Button
                      size="compact-sm"
                      variant="subtle"
                      disabled={retry.isPending}
                      onClick={() => startAgain(job.id)}
                      aria-label={`Retry ${job.name} ${job.id}`}
                    >
                      Retry
                    </Button>
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          )
        }
      </Loaded>
    </Panel>
  );
}
