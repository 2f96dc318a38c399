/** Every conversation of the organization: found, put in order, downloaded. */

import { Button, Group, Table, Text } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Download } from "lucide-react";
import { Fragment, useState } from "react";
import { DataTable, Pager } from "../../../components/tables/data-table";
import { LinkRow, nameClass } from "../../../components/tables/link-row";
import { Empty, Loaded, Page } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { RunBadge } from "../../../components/runs/run-badge";
import { ResultBadge } from "../../../components/runs/result-badge";
import { CallSparkline } from "../../../components/runs/strip/call-sparkline";
import type { Strip } from "../../../components/runs/strip/strip-shapes";
import { downloadFile } from "../../../lib/api/download";
import {
  formatDateTime,
  formatDuration,
  formatMilliseconds,
  formatMoney,
  formatTimeAgo,
} from "../../../lib/format/format";
import { useLastPage } from "../../../lib/ui/last-page";
import { notifyError } from "../../../lib/ui/notifications";
import type { Schema } from "../../../lib/api/types";
import { hasStrip, isLive } from "../../../lib/runs/run-state";
import { useRunStrips } from "../../../lib/runs/run-strips";
import { channelName, endReasonLabel } from "../../../lib/runs/run-labels";
import { runTitle } from "../../../lib/runs/run-title";
import { reportPath, useAllRuns } from "../api";
import { SavedViews } from "../views/saved-views";
import { Filters } from "./filters";
import { PassageRow } from "./passage-row";
import { countFilters, listTitle, type RunSearch, withoutFilters } from "./search";

const COLUMNS = [
  { title: "Run", sort: "id" },
  { title: "When", sort: "created_at" },
  { title: "Outcome" },
  { title: "Result" },
  { title: "Agent" },
  { title: "Last step" },
  { title: "Duration", isRight: true, sort: "duration" },
  { title: "Median answer", isRight: true },
  { title: "Cost", isRight: true },
];

export function RunsPage() {
  const search = useSearch({ from: "/signed-in/runs" });
  const navigate = useNavigate();
  const runs = useAllRuns(search);
  const strips = useRunStrips(
    (runs.data?.items ?? []).filter((run) => hasStrip(run, run.duration_seconds)).map((run) => run.run_id),
  );
  const go = (next: RunSearch) => void navigate({ to: "/runs", search: next, replace: true });
  useLastPage(search.page ?? 1, runs, (page) => go({ ...search, page }));
  const sorting = {
    by: search.sort ?? "created_at",
    order: search.order ?? ("desc" as const),
    onSort: (by: string, order: "asc" | "desc") => {
      const { page: _, ...rest } = search;
      go({ ...rest, sort: by as NonNullable<RunSearch["sort"]>, order });
    },
  };
  return (
    <Page
      title="Runs"
      about="Every call and chat, on every channel."
      actions={
        <Group gap="xs">
          <SavedViews search={search} onOpen={go} />
          <Report search={search} isEmpty={runs.data?.total_count === 0} />
        </Group>
      }
    >
      <Filters search={search} onChange={go} />
      <Panel title={listTitle(search)}>
        <Loaded query={runs} what="The runs" height={400}>
          {(data) =>
            data.items.length === 0 ? (
              <Nothing hasFilters={countFilters(search) > 0} onClear={() => go(withoutFilters(search))} />
            ) : (
              <>
                <DataTable label="Runs" columns={COLUMNS} sorting={sorting} minWidth={940} isTight>
                  {data.items.map((run) => (
                    <Fragment key={run.run_id}>
                      <RunRow run={run} strip={strips.get(run.run_id)} />
                      {run.passage !== null && <PassageRow run={run} passage={run.passage} columns={COLUMNS.length} />}
                    </Fragment>
                  ))}
                </DataTable>
                <Pager
                  page={data.page}
                  pages={data.total_pages}
                  total={data.total_count}
                  what="runs"
                  onChange={(page) => go({ ...search, page })}
                />
              </>
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}

function RunRow({ run, strip }: { run: Schema<"UsageRunItem">; strip: Strip | undefined }) {
  const navigate = useNavigate();
  const target = {
    to: "/agents/$agentId/runs/$runId",
    params: { agentId: run.workflow_id, runId: run.run_id },
  } as const;
  return (
    <LinkRow onOpen={() => void navigate(target)}>
      <Table.Td>
        <Link {...target} className={nameClass} title={run.name}>
          {runTitle(run)}
        </Link>
        {hasStrip(run, run.duration_seconds) && (
          <div>
            <CallSparkline strip={strip} />
          </div>
        )}
      </Table.Td>
      <Table.Td style={{ whiteSpace: "normal" }}>
        <Text span fz="sm" c="dimmed" title={formatDateTime(run.created_at)}>
          {formatTimeAgo(run.created_at)}
        </Text>
      </Table.Td>
      <Table.Td>
        <RunBadge status={run.status} outcome={run.outcome} />
        {endOf(run) !== null && (
          <Text fz="xs" c="dimmed">
            {endOf(run)}
          </Text>
        )}
      </Table.Td>
      <Table.Td maw={150}>
        <ResultBadge result={run.result} isSuccess={run.is_success} />
        {run.summary !== null && (
          <Text fz="xs" c="dimmed" truncate title={run.summary}>
            {run.summary}
          </Text>
        )}
      </Table.Td>
      <Table.Td style={{ whiteSpace: "normal" }}>
        {run.workflow_name}
        <Text fz="xs" c="dimmed">
          {channelName(run.mode)}
        </Text>
      </Table.Td>
      <Table.Td style={{ whiteSpace: "normal" }}>{run.last_step ?? "–"}</Table.Td>
      <Table.Td ta="right">{isLive(run) ? "–" : formatDuration(run.duration_seconds)}</Table.Td>
      <Table.Td ta="right">{formatMilliseconds(run.answer_ms)}</Table.Td>
      <Table.Td ta="right">{isLive(run) ? "–" : formatMoney(run.cost_cents)}</Table.Td>
    </LinkRow>
  );
}

/** Why it ended, unless its outcome says so already. */
function endOf(run: Schema<"UsageRunItem">): string | null {
  const { end_reason: reason, outcome, status } = run;
  return reason === null || reason === outcome || reason === status ? null : endReasonLabel(reason, run);
}

function Nothing({ hasFilters, onClear }: { hasFilters: boolean; onClear: () => void }) {
  if (hasFilters) {
    return (
      <Empty
        isInside
        title="No matching runs"
        action={
          <Button variant="default" onClick={onClear}>
            Clear filters
          </Button>
        }
      >
        No runs match these filters.
      </Empty>
    );
  }
  return (
    <Empty
      isInside
      title="No runs yet"
      action={<Button renderRoot={(props) => <Link to="/" {...props} />}>Talk to an agent</Button>}
    >
      Talk to an agent in the browser, call one, or start a campaign. Recordings, transcripts, and costs appear here.
    </Empty>
  );
}

function Report({ search, isEmpty }: { search: RunSearch; isEmpty: boolean }) {
  const [isBusy, setIsBusy] = useState(false);
  const start = async () => {
    setIsBusy(true);
    await downloadFile(reportPath(search), `runs-${new Date().toISOString().slice(0, 10)}.csv`).catch(notifyError);
    setIsBusy(false);
  };
  return (
    <Button
      variant="default"
      leftSection={<Download size={16} />}
      loading={isBusy}
      disabled={isEmpty}
      onClick={() => void start()}
    >
      Download CSV
    </Button>
  );
}
