/** The silence that callers hear before the agent answers, as it is in recordings: by day, and by what was chosen. */

import { SegmentedControl, Skeleton, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { Empty, Loaded } from "../../components/layout/page";
import { Panel } from "../../components/layout/panel";
import { DataTable } from "../../components/tables/data-table";
import { nameClass } from "../../components/tables/link-row";
import { SERIES } from "../../lib/format/colors";
import { formatCount, formatMilliseconds, humanize } from "../../lib/format/format";
import { modelName } from "../../lib/runs/model-names";
import { type AnswerTimeGroup, type AnswerTimeGrouping, useAnswerTimes } from "./api";
import { dayName } from "./day-charts";
import classes from "./usage.module.css";

const Chart = lazy(() => import("./charts"));

const GROUPINGS: { value: AnswerTimeGrouping; label: string }[] = [
  { value: "agent", label: "Agent" },
  { value: "model", label: "Model" },
  { value: "carrier", label: "Carrier" },
  { value: "day", label: "Day" },
];
const LINES = [
  { key: "p50", name: "Median", color: SERIES[0] },
  { key: "p95", name: "95th percentile", color: SERIES[4] },
];

export function AnswerTimesPanel({ days }: { days: number }) {
  const [grouping, setGrouping] = useState<AnswerTimeGrouping>("agent");
  const byDay = useAnswerTimes(days, "day");
  const choose = (
    <SegmentedControl
      size="xs"
      aria-label="Group answer times by"
      data={GROUPINGS}
      value={grouping}
      onChange={setGrouping}
    />
  );
  return (
    <Panel title={`Answer time in recordings, last ${days} days`} right={choose}>
      <Loaded query={byDay} what="The answer times" height={320}>
        {(data) =>
          data.total.turn_count === 0 ? (
            <Empty isInside title="No recorded answers">
              Calls appear here shortly after they end, if they are recorded.
            </Empty>
          ) : (
            <>
              <Text fz="sm" c="dimmed" px="lg" pt="sm">
                The silence between the caller’s last sound and the agent’s first one. Percentiles are accurate to 5%.
              </Text>
              <Days days={data.groups} />
              <Groups days={days} grouping={grouping} />
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Days({ days }: { days: AnswerTimeGroup[] }) {
  const rows = days.map((day) => ({ at: dayName(day.key), p50: day.p50_ms, p95: day.p95_ms }));
  return (
    <Suspense fallback={<Skeleton className={classes.figure} />}>
      <Chart label="Answer time per day" kind="lines" rows={rows} series={LINES} show={formatMilliseconds} />
    </Suspense>
  );
}

const FIGURES = [
  { title: "Calls", isRight: true },
  { title: "Turns", isRight: true },
  { title: "Median", isRight: true },
  { title: "p90", isRight: true },
  { title: "p95", isRight: true },
  { title: "p99", isRight: true },
];

function Groups({ days, grouping }: { days: number; grouping: AnswerTimeGrouping }) {
  const groups = useAnswerTimes(days, grouping);
  return (
    <Loaded query={groups} what="The answer times">
      {(data) => (
        <DataTable
          label={`Answer time by ${data.group_by}`}
          columns={[{ title: humanize(data.group_by) }, ...FIGURES]}
          minWidth={700}
          isTight
        >
          {shownGroups(data.groups, data.group_by).map((group) => (
            <Table.Tr key={group.key}>
              <Table.Td style={{ whiteSpace: "normal" }}>{nameOf(group, data.group_by)}</Table.Td>
              <Table.Td ta="right">{formatCount(group.call_count)}</Table.Td>
              <Table.Td ta="right">{formatCount(group.turn_count)}</Table.Td>
              <Table.Td ta="right">{formatMilliseconds(group.p50_ms)}</Table.Td>
              <Table.Td ta="right">{formatMilliseconds(group.p90_ms)}</Table.Td>
              <Table.Td ta="right">{formatMilliseconds(group.p95_ms)}</Table.Td>
              <Table.Td ta="right">{formatMilliseconds(group.p99_ms)}</Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </Loaded>
  );
}

/** Days without an answer have no row, and the latest one comes first. */
function shownGroups(groups: AnswerTimeGroup[], grouping: AnswerTimeGrouping): AnswerTimeGroup[] {
  return grouping === "day" ? groups.filter((day) => day.turn_count > 0).reverse() : groups;
}

function nameOf(group: AnswerTimeGroup, grouping: AnswerTimeGrouping): ReactNode {
  if (grouping === "day") return dayName(group.key);
  if (grouping === "carrier") return humanize(group.key);
  if (grouping === "model") return <ModelName model={group.key} />;
  if (group.workflow_name === null) return "Deleted agent";
  return (
    <Link to="/agents/$agentId" params={{ agentId: Number(group.key) }} className={nameClass}>
      {group.workflow_name}
    </Link>
  );
}

function ModelName({ model }: { model: string }) {
  if (model === "") return "No language model";
  const [vendor = "", ...name] = model.split("/");
  return (
    <Text span fz="sm" fw={600}>
      {modelName(vendor, name.join("/"))}
    </Text>
  );
}
