/** How things stand: this month, the last two weeks, what runs just now, and what to do first when nothing has happened. */

import { Anchor, Group, Progress, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { AudioLines, Bot, Megaphone } from "lucide-react";
import { Figure, Figures } from "../../components/layout/fact";
import { Empty, Loaded, Page } from "../../components/layout/page";
import { Panel } from "../../components/layout/panel";
import { CallSparkline } from "../../components/runs/strip/call-sparkline";
import { RunBadge } from "../../components/runs/run-badge";
import { useAccount, usePermissions } from "../../lib/organization/organization-context";
import { formatCount, formatDuration, formatMoney, formatMilliseconds, formatTimeAgo } from "../../lib/format/format";
import { hasStrip } from "../../lib/runs/run-state";
import { useRunStrips } from "../../lib/runs/run-strips";
import { runTitle } from "../../lib/runs/run-title";
import { useAgentNames } from "../../lib/organization/agent-names";
import type { Schema } from "../../lib/api/types";
import { type Insights, useInsights, useLatest, usePeriod, useRunningCampaigns } from "./api";
import { LatencyChart, OutcomesChart, ResultsChart, SuccessChart } from "./day-charts";
import classes from "./usage.module.css";

const DAYS = 14;

export function OverviewPage() {
  const account = useAccount();
  const insights = useInsights(DAYS);
  const latest = useLatest();
  const name = account.data?.name?.split(" ")[0];
  return (
    <Page
      title="Overview"
      about={name ? `Welcome back, ${name}. Here's how your agents are doing.` : "Here's how your agents are doing."}
    >
      <Loaded query={latest} what="The latest runs" height={360}>
        {(runs) =>
          runs.total_count === 0 ? (
            <FirstSteps />
          ) : (
            <>
              <Month insights={insights.data} />
              <Loaded query={insights} what="The charts" height={260}>
                {(data) => (
                  <div className={classes.two}>
                    <OutcomesChart days={data.days} />
                    <LatencyChart days={data.days} />
                    <ResultsChart days={data.days} />
                    <SuccessChart days={data.days} />
                  </div>
                )}
              </Loaded>
              <div className={classes.two}>
                <Latest runs={runs.items} />
                <Running />
              </div>
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Month({ insights }: { insights: Insights | undefined }) {
  const period = usePeriod();
  const today = insights?.days.at(-1);
  return (
    <Loaded query={period} what="The summary" height={96}>
      {(data) => (
        <Figures>
          <Figure
            name="Runs this month"
            value={formatCount(data.total_calls)}
            note={today && `${formatCount(today.call_count)} today`}
          />
          <Figure
            name="Minutes this month"
            value={formatCount(Math.round(data.total_minutes * 10) / 10)}
            note={today && `${formatCount(Math.round(today.total_minutes * 10) / 10)} today`}
          />
          <Figure
            name="Cost this month"
            value={formatMoney(data.total_cost_cents)}
            note={today && `${formatMoney(today.total_cost_cents)} today`}
          />
          <Figure name="Response time today" value={formatMilliseconds(today?.p50_ms)} note="median" />
          <Figure
            name="Balance"
            value={formatMoney(data.balance_cents)}
            note={data.is_unlimited ? "no limit" : `${formatCount(Math.floor(data.minutes_remaining))} minutes left`}
          />
        </Figures>
      )}
    </Loaded>
  );
}

function Latest({ runs }: { runs: Schema<"UsageRunItem">[] }) {
  const strips = useRunStrips(runs.filter((run) => hasStrip(run, run.duration_seconds)).map((run) => run.run_id));
  return (
    <Panel
      title="Latest runs"
      right={
        <Anchor fz="sm" renderRoot={(props) => <Link to="/runs" {...props} />}>
          All runs
        </Anchor>
      }
    >
      <ul className={classes.lines}>
        {runs.map((run) => (
          <li key={run.run_id}>
            <Link to="/agents/$agentId/runs/$runId" params={{ agentId: run.workflow_id, runId: run.run_id }}>
              <span>
                <Text span fz="sm" fw={600}>
                  {run.workflow_name}
                </Text>
                <Text fz="xs" c="dimmed">
                  {runTitle(run)} · {formatDuration(run.duration_seconds)} · {formatTimeAgo(run.created_at)}
                </Text>
              </span>
              <RunBadge status={run.status} outcome={run.outcome} />
              {hasStrip(run, run.duration_seconds) && <CallSparkline strip={strips.get(run.run_id)} />}
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Running() {
  const campaigns = useRunningCampaigns();
  return (
    <Panel
      title="Active campaigns"
      right={
        <Anchor fz="sm" renderRoot={(props) => <Link to="/campaigns" {...props} />}>
          All campaigns
        </Anchor>
      }
    >
      <Loaded query={campaigns} what="The campaigns" height={90}>
        {(data) =>
          data.length === 0 ? (
            <Text fz="sm" c="dimmed" p="xl" ta="center">
              No campaigns are running.
            </Text>
          ) : (
            <ul className={classes.lines}>
              {data.map((campaign) => (
                <li key={campaign.id}>
                  <Link to="/campaigns/$campaignId" params={{ campaignId: campaign.id }}>
                    <Text span fz="sm" fw={600}>
                      {campaign.name}
                    </Text>
                    <Text span fz="xs" c="dimmed">
                      {campaign.status === "paused"
                        ? "Paused"
                        : `${formatCount(campaign.progress.completed)} of ${formatCount(campaign.progress.total_contacts)}`}
                    </Text>
                    <Progress
                      value={campaign.progress.progress_percentage}
                      aria-label={`${campaign.name}: progress`}
                      style={{ gridColumn: "1 / -1" }}
                    />
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

/** Only admins change models. */
const VOICES = {
  link: { to: "/settings/$section", params: { section: "models" } },
  icon: AudioLines,
  title: "Get better voices",
  words: "Everything runs offline out of the box. Add a vendor key for better voices and speech recognition.",
} as const;

const FIRST = [
  {
    link: { to: "/" },
    icon: Bot,
    title: "Talk to an agent",
    words: "Open one and press Start talking. All you need is a microphone.",
  },
  {
    link: { to: "/campaigns/new" },
    icon: Megaphone,
    title: "Call a list",
    words: "Upload a CSV. Simulated phones answer, are busy, or go to voicemail, at no cost.",
  },
  VOICES,
] as const;

/** Of an organization that has no agent yet. */
const MAKE = {
  ...FIRST[0],
  title: "Create an agent",
  words: "It starts with a greeting and a goodbye. Change what it says and press Start talking.",
};

function FirstSteps() {
  const agents = useAgentNames();
  const permissions = usePermissions();
  if (!permissions.write) {
    return <Empty title="No calls yet">Calls and campaigns of your team show up here.</Empty>;
  }
  const all = agents.data?.length === 0 ? [MAKE, ...FIRST.slice(1)] : FIRST;
  const steps = all.filter((step) => step !== VOICES || permissions.admin);
  return (
    <>
      <Group gap={8}>
        <Text fw={600}>No calls yet. Start here:</Text>
      </Group>
      <ul className={classes.steps}>
        {steps.map((step) => (
          <li key={step.title}>
            <Link {...step.link} className={classes.step}>
              <step.icon size={22} strokeWidth={1.7} aria-hidden="true" />
              <Text span fw={600}>
                {step.title}
              </Text>
              <Text span fz="sm" c="dimmed">
                {step.words}
              </Text>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
