/** One conversation afterwards, or while it goes on: what was said, how it sounded, how fast it answered. */

import { Anchor, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { LatencyBars, LatencySummary } from "../../components/latency";
import { Panel } from "../../components/panel";
import { Problem } from "../../components/problem";
import { RunBadge } from "../../components/run_badge";
import { Transcript } from "../../components/transcript";
import { localPath } from "../../lib/address";
import { conversationOf } from "../../lib/conversation";
import { duration, when, words } from "../../lib/format";
import { turnsOf } from "../../lib/latency";
import type { RunDetail } from "../../lib/types";
import { useRun } from "./api";
import { EventsPanel } from "./events_panel";
import classes from "./runs.module.css";
import { channel } from "./runs_panel";

export function RunPage({ agentId, runId }: { agentId: number; runId: number }) {
  const run = useRun(agentId, runId);
  if (run.isPending) return <Skeleton h={420} radius={14} />;
  if (run.isError) return <Problem title="This conversation could not be loaded" error={run.error} onRetry={() => void run.refetch()} />;
  return <Shown agentId={agentId} run={run.data} />;
}

function Shown({ agentId, run }: { agentId: number; run: RunDetail }) {
  useDocumentTitle(`${run.name} · Offhook`);
  const conversation = useMemo(() => conversationOf(run.events), [run.events]);
  const turns = useMemo(() => turnsOf(run.events), [run.events]);
  return (
    <Stack gap="lg">
      <Header agentId={agentId} run={run} />
      <div className={classes.columns}>
        <Panel title="Transcript" right={run.transcript_url && <Download url={run.transcript_url} name="Transcript" />} className={classes.tall}>
          {conversation.lines.length > 0 ? (
            <Transcript lines={conversation.lines} agentName={run.workflow_name} hasTimes />
          ) : (
            <Nothing words="Nobody said anything." />
          )}
        </Panel>
        <Stack gap="lg" miw={0}>
          {run.mode !== "textchat" && <Recording run={run} />}
          {run.mode !== "textchat" && (
            <Panel title="Answer time">
              {turns.length > 0 ? (
                <Stack p="lg" gap="lg">
                  <LatencySummary turns={turns} />
                  <LatencyBars turns={turns} />
                </Stack>
              ) : (
                <Nothing words="No turn was timed." />
              )}
            </Panel>
          )}
          <Gathered values={run.gathered_context["extracted_variables"]} />
          <EventsPanel events={run.events} />
        </Stack>
      </div>
    </Stack>
  );
}

function Header({ agentId, run }: { agentId: number; run: RunDetail }) {
  return (
    <div>
      <Anchor fz="sm" c="dimmed" renderRoot={(props) => <Link to="/agents/$agentId" params={{ agentId }} {...props} />}>
        ← {run.workflow_name}
      </Anchor>
      <Group gap="sm" mt={6}>
        <Title order={1} fz={26}>
          {run.name}
        </Title>
        <RunBadge status={run.status} outcome={run.outcome} />
      </Group>
      <Group gap={22} mt={10}>
        <Fact name="Channel" value={channel(run)} />
        <Fact name="Started" value={when(run.started_at ?? run.created_at)} />
        <Fact name="Duration" value={duration(run.duration)} />
        <Fact name="Ended by" value={run.end_reason ? words(run.end_reason) : "–"} />
        <Fact name="Version" value={`v${run.version_number}`} />
        <Fact name="Cost" value={`$${(run.cost_cents / 100).toFixed(2)}`} />
      </Group>
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <Text fz="xs" c="dimmed">
        {name}
      </Text>
      <Text fz="sm" fw={600}>
        {value}
      </Text>
    </div>
  );
}

function Recording({ run }: { run: RunDetail }) {
  return (
    <Panel title="Recording" right={run.recording_url && <Download url={run.recording_url} name="Recording" />}>
      {run.recording_url ? (
        <div className={classes.player}>
          <audio controls preload="metadata" src={localPath(run.recording_url, window.location.href)} aria-label="Recording: caller left, agent right">
            <track kind="captions" />
          </audio>
          <Text fz="xs" c="dimmed">
            Stereo: the caller on the left, the agent on the right.
          </Text>
        </div>
      ) : (
        <Nothing words="There is no recording." />
      )}
    </Panel>
  );
}

function Download({ url, name }: { url: string; name: string }) {
  return (
    <Anchor fz="sm" href={localPath(url, window.location.href)} download aria-label={`Download: ${name}`}>
      Download
    </Anchor>
  );
}

function Gathered({ values }: { values: unknown }) {
  const entries = typeof values === "object" && values !== null ? Object.entries(values) : [];
  if (entries.length === 0) return null;
  return (
    <Panel title="What was learned">
      <dl className={classes.facts}>
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{words(name)}</dt>
            <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Nothing({ words: text }: { words: string }) {
  return (
    <Text c="dimmed" fz="sm" p="lg">
      {text}
    </Text>
  );
}
