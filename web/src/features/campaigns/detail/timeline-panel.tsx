/** When contacts were done, by outcome or by result: one bar for each stretch of time. */

import { SegmentedControl } from "@mantine/core";
import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Panel } from "../../../components/layout/panel";
import { TooltipBox } from "../../../components/charts/chart-tooltip";
import { api, unwrap } from "../../../lib/api/client";
import { outcomeColor, resultColors } from "../../../lib/format/colors";
import { humanize } from "../../../lib/format/format";
import { type Campaign, useCampaignResults } from "../api";

function useTimeline(campaign: Campaign, done: number) {
  return useQuery({
    queryKey: ["campaigns", campaign.id, "timeline"],
    enabled: done > 0,
    refetchInterval: campaign.status === "running" ? 5_000 : false,
    queryFn: () =>
      unwrap(api.GET("/api/v1/campaign/{campaign_id}/timeline", { params: { path: { campaign_id: campaign.id } } })),
  });
}

export default function TimelinePanel({ campaign, done }: { campaign: Campaign; done: number }) {
  const timeline = useTimeline(campaign, done);
  const results = useCampaignResults(campaign, done);
  const [kind, setKind] = useState<"outcomes" | "results">("outcomes");
  const steps = timeline.data?.steps ?? [];
  if (steps.length === 0) return null;
  const hasResults = steps.some((step) => Object.keys(step.results).length > 0);
  const shown = hasResults ? kind : "outcomes";
  const names = [...new Set(steps.flatMap((step) => Object.keys(step[shown])))];
  const colorOf =
    shown === "outcomes" ? outcomeColor : resultColors(results.data?.results.map((one) => one.name) ?? names);
  const title = shown === "outcomes" ? "Outcomes over time" : "Results over time";
  const isLong = (timeline.data?.step_seconds ?? 0) >= 3600 * 6;
  const hasSeconds = (timeline.data?.step_seconds ?? 60) < 60;
  const label = (iso: string) =>
    new Date(iso).toLocaleString(
      undefined,
      isLong
        ? { day: "numeric", month: "short" }
        : { hour: "numeric", minute: "2-digit", ...(hasSeconds ? { second: "2-digit" } : {}) },
    );
  const rows = steps.map((step) => ({ at: label(step.from_time), ...step[shown] }));
  return (
    <Panel
      title={title}
      right={
        hasResults && (
          <SegmentedControl
            size="xs"
            aria-label="What to chart"
            data={[
              { value: "outcomes", label: "Outcomes" },
              { value: "results", label: "Results" },
            ]}
            value={kind}
            onChange={(value) => setKind(value === "results" ? "results" : "outcomes")}
          />
        )
      }
    >
      <div
        style={{ height: 220, padding: "18px 18px 8px 0" }}
        role="img"
        aria-label={`${title}, ${steps.length} intervals`}
      >
        <ResponsiveContainer>
          <BarChart data={rows} accessibilityLayer={false}>
            <CartesianGrid vertical={false} stroke="var(--line)" />
            <XAxis
              dataKey="at"
              tickLine={false}
              axisLine={false}
              tick={{ fill: "var(--muted)", fontSize: "var(--mantine-font-size-xs)" }}
              minTickGap={30}
            />
            <YAxis
              allowDecimals={false}
              tickLine={false}
              axisLine={false}
              tick={{ fill: "var(--muted)", fontSize: "var(--mantine-font-size-xs)" }}
              width={44}
            />
            <Tooltip content={<TooltipBox />} cursor={{ fill: "var(--soft)" }} />
            {names.map((name) => (
              <Bar
                key={name}
                dataKey={name}
                name={shown === "outcomes" ? humanize(name) : name}
                stackId="all"
                fill={colorOf(name)}
                maxBarSize={28}
                isAnimationActive={false}
              />
            ))}
          </BarChart>
        </ResponsiveContainer>
      </div>
    </Panel>
  );
}
