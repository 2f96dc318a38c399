/** What happened on each day: conversations by outcome, minutes, cost, answer time. */

import { Skeleton, Text } from "@mantine/core";
import { lazy, type ReactNode, Suspense } from "react";
import { Panel } from "../../components/layout/panel";
import { outcomeColor, resultColors, SERIES } from "../../lib/format/colors";
import { formatCount, formatMoney, formatMilliseconds, humanize } from "../../lib/format/format";
import type { Insights } from "./api";
import classes from "./usage.module.css";

const Chart = lazy(() => import("./charts"));

export function dayName(iso: string): string {
  return new Date(`${iso}T12:00:00Z`).toLocaleDateString(undefined, {
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  });
}

export function OutcomesChart({ days }: { days: Insights["days"] }) {
  const outcomes = [...new Set(days.flatMap((day) => Object.keys(day.outcomes)))];
  const rows = days.map((day) => ({ at: dayName(day.date), ...day.outcomes }));
  const series = outcomes.map((key) => ({ key, name: humanize(key), color: outcomeColor(key) }));
  return (
    <Framed title="Runs by outcome" isEmpty={outcomes.length === 0}>
      <Chart label="Runs per day by outcome" kind="bars" rows={rows} series={series} show={formatCount} hasLegend />
    </Framed>
  );
}

/** Null where no agent defines results. */
export function ResultsChart({ days }: { days: Insights["days"] }) {
  const results = [...new Set(days.flatMap((day) => Object.keys(day.results)))];
  if (results.length === 0) return null;
  const rows = days.map((day) => ({ at: dayName(day.date), ...day.results }));
  const colorOf = resultColors(results);
  const series = results.map((key) => ({ key, name: key, color: colorOf(key) }));
  return (
    <Framed title="Runs by result" isEmpty={false}>
      <Chart label="Runs per day by result" kind="bars" rows={rows} series={series} show={formatCount} hasLegend />
    </Framed>
  );
}

/** Null where nothing tells successes from failures. */
export function SuccessChart({ days }: { days: Insights["days"] }) {
  if (days.every((day) => day.judged_count === 0)) return null;
  const rows = days.map((day) => ({
    at: dayName(day.date),
    share: day.judged_count === 0 ? null : Math.round((day.success_count / day.judged_count) * 100),
  }));
  return (
    <Framed title="Success rate" isEmpty={false}>
      <Chart
        label="Success rate per day"
        kind="lines"
        rows={rows}
        series={[{ key: "share", name: "Successful", color: SERIES[0] }]}
        show={(share) => `${share}%`}
      />
    </Framed>
  );
}

export function LatencyChart({ days }: { days: Insights["days"] }) {
  const rows = days.map((day) => ({ at: dayName(day.date), p50: day.p50_ms, p95: day.p95_ms }));
  const series = [
    // Of the runs' own medians: a single answer can be slower.
    { key: "p50", name: "Median run", color: SERIES[0] },
    { key: "p95", name: "95% of runs", color: SERIES[4] },
  ];
  return (
    <Framed title="Response time" isEmpty={rows.every((row) => row.p50 === null)}>
      <Chart label="Response time per day" kind="lines" rows={rows} series={series} show={formatMilliseconds} />
    </Framed>
  );
}

export function MinutesChart({ days }: { days: Insights["days"] }) {
  const rows = days.map((day) => ({ at: dayName(day.date), minutes: day.total_minutes }));
  return (
    <Framed title="Minutes" isEmpty={rows.every((row) => row.minutes === 0)}>
      <Chart
        label="Minutes per day"
        kind="bars"
        rows={rows}
        series={[{ key: "minutes", name: "Minutes", color: SERIES[0] }]}
        show={formatCount}
      />
    </Framed>
  );
}

export function CostChart({ days }: { days: Insights["days"] }) {
  const rows = days.map((day) => ({ at: dayName(day.date), cost: day.total_cost_cents }));
  return (
    <Framed
      title="Cost"
      isEmpty={rows.every((row) => row.cost === 0)}
      empty="No costs. Offline models and simulated phones are free."
    >
      <Chart
        label="Cost per day"
        kind="bars"
        rows={rows}
        series={[{ key: "cost", name: "Cost", color: SERIES[1] }]}
        show={formatMoney}
      />
    </Framed>
  );
}

function Framed({
  title,
  isEmpty,
  empty = "No data for this period.",
  children,
}: {
  title: string;
  isEmpty: boolean;
  empty?: string;
  children: ReactNode;
}) {
  return (
    <Panel title={title}>
      {isEmpty ? (
        <Text fz="sm" c="dimmed" p="xl" ta="center">
          {empty}
        </Text>
      ) : (
        <Suspense fallback={<Skeleton className={classes.figure} />}>{children}</Suspense>
      )}
    </Panel>
  );
}
