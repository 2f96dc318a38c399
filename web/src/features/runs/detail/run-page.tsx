/** The page of one run, live or finished: its transcript, recording, and latency. */

import { Anchor, Group, Skeleton, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { Fact } from "../../../components/layout/fact";
import { Page } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { Problem } from "../../../components/feedback/problem";
import { PlayerBar } from "../../../components/runs/player/player";
import { usePlayer } from "../../../components/runs/player/use-player";
import { ResultBadge } from "../../../components/runs/result-badge";
import { RunBadge } from "../../../components/runs/run-badge";
import { Transcript } from "../../../components/runs/transcript";
import { localPath } from "../../../lib/api/address";
import { transcriptOf } from "../../../lib/live/transcript";
import { formatDateTime, formatDuration, formatMoney, humanize } from "../../../lib/format/format";
import { conversationTurns } from "../../../lib/live/turns";
import type { RunDetail } from "../../../lib/api/types";
import { useRunStrip } from "../../../lib/runs/run-strips";
import { usePageTitle } from "../../../lib/ui/use-page-title";
import { useCampaignNames, useRun } from "../api";
import { CallReplay } from "./call-replay";
import { explainEnd } from "./end-explanation";
import { EndNote, WaitNote } from "./end-note";
import { EventsPanel } from "./events-panel";
import { Costs, givenOf, Reviews, Values } from "./facts-panels";
import { MakeScenario } from "./make-scenario";
import { NotesPanel } from "./notes-panel";
import classes from "../runs.module.css";
import { channelName, partyName } from "../../../lib/runs/run-labels";
import { isLive } from "../../../lib/runs/run-state";
import { isSampleCall, runTitle } from "../../../lib/runs/run-title";
import { Neighbor, Trail } from "./run-trail";
import { Share } from "./share";
import { SummaryPanel } from "./summary-panel";
import { useFirstPart } from "../player/first-part";
import { showHeardTurn, TurnsPanel } from "./turns-panel";

interface RunPageProps {
  agentId: number;
  runId: number;
  /** Seconds of the call that a link leads to. */
  startAt: number;
  /** The beginning of the recording is heard at once. */
  isListening?: boolean;
}

export function RunPage({ agentId, runId, startAt, isListening = false }: RunPageProps) {
  const run = useRun(agentId, runId);
  usePageTitle(run.data === undefined ? "Run" : runTitle(run.data));
  if (run.isPending)
    return <Skeleton h={420} radius={14} role="status" aria-busy="true" aria-label="Loading the run" />;
  if (run.isError && run.data === undefined) {
    return (
      <Page title="Run" back={<Trail agentId={agentId} agentName="Agent" />}>
        <Problem title="The run could not be loaded" error={run.error} onRetry={() => void run.refetch()} />
      </Page>
    );
  }
  return <Shown agentId={agentId} run={run.data} startAt={startAt} isListening={isListening} />;
}

interface ShownProps {
  agentId: number;
  run: RunDetail;
  startAt: number;
  isListening: boolean;
}

function Shown({ agentId, run, startAt, isListening }: ShownProps) {
  const transcript = useMemo(() => transcriptOf(run.events), [run.events]);
  const turns = useMemo(() => conversationTurns(run.events), [run.events]);
  const isSpoken = run.mode !== "textchat";
  const isSample = isSampleCall(run);
  // While it goes on the file grows: it is played once it is whole.
  const address =
    run.recording_url !== null && !isLive(run) ? localPath(run.recording_url, window.location.href) : null;
  const player = usePlayer(address, startAt);
  useFirstPart(player, isListening && address !== null);
  const strip = useRunStrip(agentId, run.id, isSpoken && !isLive(run));
  const end = useMemo(() => (isLive(run) ? null : explainEnd(run, run.events)), [run]);
  // Without a recording a link leads to what was said then.
  const shownSeconds = address === null ? startAt : player.seconds;
  const said = useRef<HTMLElement>(null);
  useEffect(() => {
    if (startAt > 0) said.current?.scrollIntoView({ block: "nearest" });
  }, [startAt]);
  return (
    <Page
      title={runTitle(run)}
      back={<Trail agentId={agentId} agentName={run.workflow_name} />}
      actions={
        <Group gap="xs">
          <Neighbor agentId={agentId} runId={run.previous_run_id} name="Previous run" icon={ChevronLeft} />
          <Neighbor agentId={agentId} runId={run.next_run_id} name="Next run" icon={ChevronRight} />
          <MakeScenario agentId={agentId} run={run} />
          <Share run={run} seconds={address === null ? 0 : player.seconds} />
        </Group>
      }
    >
      {isSample && (
        <Text c="dimmed">
          A real run of this agent with a simulated caller, recorded on this machine with the offline voices. No person
          was called.
        </Text>
      )}
      <Facts run={run} />
      <WaitNote until={run.waits_until} />
      {end !== null && <EndNote end={end} agentId={agentId} onSeek={address === null ? null : player.seek} />}
      {isSpoken && (
        <section className={classes.heard} aria-label="Recording">
          {address === null ? (
            <Nothing
              words={isLive(run) ? "The recording is available when the call ends." : "This call was not recorded."}
            />
          ) : (
            <PlayerBar
              player={player}
              address={address}
              strip={strip.data}
              hasFailed={strip.isError}
              party={partyName(run)}
              download={run.recording_url && <Download url={run.recording_url} name="Recording" />}
            />
          )}
        </section>
      )}
      <div className={classes.columns}>
        <Panel
          title="Transcript"
          right={run.transcript_url && <Download url={run.transcript_url} name="Transcript" />}
          className={classes.said}
          ref={said}
        >
          {transcript.lines.length > 0 ? (
            <Transcript
              lines={transcript.lines}
              agentName={run.workflow_name}
              partyName={partyName(run)}
              hasTimes
              isLive={isLive(run)}
              {...(player.isPlaying || shownSeconds > 0 ? { heardMs: shownSeconds * 1000 } : {})}
              {...(address === null ? {} : { onSeek: (ms: number) => player.seek(ms / 1000) })}
            />
          ) : (
            <Nothing words={isLive(run) ? "Nothing has been said yet." : "Nothing was said."} />
          )}
        </Panel>
        <Stack gap="lg" className={classes.rest}>
          <SummaryPanel run={run} />
          <NotesPanel agentId={agentId} run={run} />
          <CallReplay key={run.id} agentId={agentId} run={run} onTurn={(turn) => showHeardTurn(turns, turn)} />
          <TurnsPanel
            agentId={agentId}
            runId={run.id}
            turns={turns}
            prompts={new Map(Object.entries(run.prompts))}
            isOver={!isLive(run)}
            answerTimes={strip.data?.answer_times ?? null}
            onSeek={address === null ? null : player.seek}
          />
          <Values title="Extracted variables" values={run.gathered_context["extracted_variables"]} />
          <Values title="Input variables" values={givenOf(run.initial_context)} />
          <Reviews reviews={run.annotations} />
          <Costs run={run} />
          <EventsPanel events={run.events} onSeek={address === null ? null : player.seek} />
        </Stack>
      </div>
    </Page>
  );
}

function Facts({ run }: { run: RunDetail }) {
  return (
    <Group gap="12px 26px">
      <Fact name="Outcome" value={<RunBadge status={run.status} outcome={run.outcome} />} />
      {(run.result !== null || run.is_success !== null) && (
        <Fact name="Result" value={<ResultBadge result={run.result} isSuccess={run.is_success} />} />
      )}
      <Fact name="Channel" value={channelName(run.mode)} />
      {run.mode !== "textchat" && run.mode !== "browser" && <Fact name="Direction" value={humanize(run.direction)} />}
      {run.caller_number !== null && <Fact name="From" value={run.caller_number} />}
      {run.called_number !== null && <Fact name="To" value={run.called_number} />}
      {run.campaign_id !== null && <Fact name="Campaign" value={<CampaignLink id={run.campaign_id} />} />}
      <Fact name="Started" value={formatDateTime(run.started_at ?? run.created_at)} />
      <Fact name="Duration" value={formatDuration(run.duration)} />
      <Fact name="Version" value={`v${run.version_number}`} />
      <Fact name="Name" value={run.name} />
      <Fact name="Cost" value={formatMoney(run.cost_cents)} />
    </Group>
  );
}

function CampaignLink({ id }: { id: number }) {
  const name = useCampaignNames().data?.find((campaign) => campaign.value === String(id))?.label;
  return (
    <Anchor
      fz="sm"
      fw={600}
      renderRoot={(props) => <Link to="/campaigns/$campaignId" params={{ campaignId: id }} {...props} />}
    >
      {name ?? `Campaign ${id}`}
    </Anchor>
  );
}

function Download({ url, name }: { url: string; name: string }) {
  return (
    <Anchor fz="sm" href={localPath(url, window.location.href)} download aria-label={`Download: ${name}`}>
      Download
    </Anchor>
  );
}

function Nothing({ words: text }: { words: string }) {
  return (
    <Text c="dimmed" fz="sm" p="lg">
      {text}
    </Text>
  );
}
