/** The latest conversations of an agent. */

import { Pagination, Skeleton, Table, Text } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Panel } from "../../../components/layout/panel";
import { Problem } from "../../../components/feedback/problem";
import { RunBadge } from "../../../components/runs/run-badge";
import { ResultBadge } from "../../../components/runs/result-badge";
import { CallSparkline } from "../../../components/runs/strip/call-sparkline";
import type { Strip } from "../../../components/runs/strip/strip-shapes";
import { DataTable } from "../../../components/tables/data-table";
import { LinkRow, nameClass } from "../../../components/tables/link-row";
import { formatDuration, formatMilliseconds, formatTimeAgo } from "../../../lib/format/format";
import { useLastPage } from "../../../lib/ui/last-page";
import type { Run } from "../../../lib/api/types";
import { hasStrip } from "../../../lib/runs/run-state";
import { useRunStrips } from "../../../lib/runs/run-strips";
import { channelName } from "../../../lib/runs/run-labels";
import { runTitle } from "../../../lib/runs/run-title";
import { useRuns } from "../api";
import classes from "../runs.module.css";

const PER_PAGE = 10;
const COLUMNS = [
  { title: "Run" },
  { title: "Outcome" },
  { title: "Result" },
  { title: "Channel" },
  { title: "Duration", isRight: true },
  { title: "Median response", isRight: true },
  { title: "When", isRight: true },
];

export function RunsPanel({ agentId }: { agentId: number }) {
  const [page, setPage] = useState(1);
  const runs = useRuns(agentId, page, PER_PAGE);
  useLastPage(page, runs, setPage);
  return (
    <Panel
      title="Runs"
      right={
        <Text fz="sm" c="dimmed">
          {runs.data ? `${runs.data.total_count} total` : ""}
        </Text>
      }
    >
      {runs.isPending && <Skeleton h={120} m="md" radius="md" />}
      {runs.isError && (
        <Problem title="The runs could not be loaded" error={runs.error} onRetry={() => void runs.refetch()} />
      )}
      {runs.data?.runs.length === 0 && (
        <Text c="dimmed" fz="sm" p="xl" ta="center">
          No runs yet. Talk to the agent, and the run appears here with its recording.
        </Text>
      )}
      {runs.data && runs.data.runs.length > 0 && <RunTable agentId={agentId} runs={runs.data.runs} />}
      {runs.data && runs.data.total_pages > 1 && (
        <div className={classes.pages}>
          <Pagination size="sm" total={runs.data.total_pages} value={page} onChange={setPage} />
        </div>
      )}
    </Panel>
  );
}

function RunTable({ agentId, runs }: { agentId: number; runs: Run[] }) {
  const strips = useRunStrips(runs.filter((one) => hasStrip(one, one.duration)).map((one) => one.id));
  return (
    <DataTable label="Runs" columns={COLUMNS} minWidth={780}>
      {runs.map((run) => (
        <RunRow key={run.id} agentId={agentId} run={run} strip={strips.get(run.id)} />
      ))}
    </DataTable>
  );
}

function RunRow({ agentId, run, strip }: { agentId: number; run: Run; strip: Strip | undefined }) {
  const navigate = useNavigate();
  const target = { to: "/agents/$agentId/runs/$runId", params: { agentId, runId: run.id } } as const;
  return (
    <LinkRow onOpen={() => void navigate(target)}>
      <Table.Td>
        <Link {...target} className={nameClass} title={run.name}>
          {runTitle(run)}
        </Link>
        {hasStrip(run, run.duration) && (
          <div>
            <CallSparkline strip={strip} />
          </div>
        )}
      </Table.Td>
      <Table.Td>
        <RunBadge status={run.status} outcome={run.outcome} />
      </Table.Td>
      <Table.Td>
        <ResultBadge result={run.result} isSuccess={run.is_success} />
      </Table.Td>
      <Table.Td>{channelName(run.mode)}</Table.Td>
      <Table.Td ta="right">{formatDuration(run.duration)}</Table.Td>
      <Table.Td ta="right">{formatMilliseconds(run.latency.p50_ms)}</Table.Td>
      <Table.Td ta="right" c="dimmed">
        {formatTimeAgo(run.created_at)}
      </Table.Td>
    </LinkRow>
  );
}
