/** When contacts were done, by outcome: one bar for each stretch of time. */

import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { useQuery } from "@tanstack/react-query";
import { Panel } from "../../../components/layout/panel";
import { TooltipBox } from "../../../components/charts/chart-tooltip";
import { api, unwrap } from "../../../lib/api/client";
import { outcomeColor } from "../../../lib/format/colors";
import { humanize } from "../../../lib/format/format";
import type { Campaign } from "../api";

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
  const steps = timeline.data?.steps ?? [];
  if (steps.length === 0) return null;
  const outcomes = [...new Set(steps.flatMap((step) => Object.keys(step.outcomes)))];
  const isLong = (timeline.data?.step_seconds ?? 0) >= 3600 * 6;
  const hasSeconds = (timeline.data?.step_seconds ?? 60) < 60;
  const label = (iso: string) =>
    new Date(iso).toLocaleString(
      undefined,
      isLong
        ? { day: "numeric", month: "short" }
        : { hour: "numeric", minute: "2-digit", ...(hasSeconds ? { second: "2-digit" } : {}) },
    );
  const rows = steps.map((step) => ({ at: label(step.from_time), ...step.outcomes }));
  return (
    <Panel title="Outcomes over time">
      <div
        style={{ height: 220, padding: "18px 18px 8px 0" }}
        role="img"
        aria-label={`Outcomes over time, ${steps.length} intervals`}
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
            {outcomes.map((outcome) => (
              <Bar
                key={outcome}
                dataKey={outcome}
                name={humanize(outcome)}
                stackId="all"
                fill={outcomeColor(outcome)}
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
