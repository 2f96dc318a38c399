/** Talk with an agent here: the conversation as it happens, how fast it answers, and the controls of a telephone. */

import { Anchor, Button, Loader, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { LatencyBars, LatencySummary } from "../../components/charts/latency";
import { ToolCalls } from "../../components/runs/tool-calls";
import { Transcript } from "../../components/runs/transcript";
import { humanize } from "../../lib/format/format";
import { useAccount } from "../../lib/organization/organization-context";
import { useIsDemoVoice } from "./api";
import type { CallState, Phase } from "./call-state";
import { Controls } from "./controls";
import { Denied } from "./denied";
import classes from "./talk-panel.module.css";
import type { Call } from "./use-call";

interface TalkPanelProps {
  agentId: number;
  agentName: string;
  call: Call;
  /** Above the button that begins the call. */
  choice: ReactNode;
}

/** Rows of latency bars that fit below a conversation without pushing it away. */
const LIVE_BARS = 4;

export function TalkPanel({ agentId, agentName, call, choice }: TalkPanelProps) {
  const isDemoVoice = useIsDemoVoice();
  const { state } = call;
  const hasWords = state.transcript.lines.length > 0;
  return (
    <div className={classes.panel}>
      {state.phase.name !== "idle" && <PhaseLabel phase={state.phase} />}
      {hasWords ? (
        <Transcript lines={state.transcript.lines} agentName={agentName} isLive />
      ) : (
        <Stage
          phase={state.phase}
          agentName={agentName}
          isDemoVoice={isDemoVoice}
          onStart={call.start}
          choice={choice}
        />
      )}
      {hasWords && <Ending agentId={agentId} state={state} onStart={call.start} />}
      <ToolCalls calls={state.tools} />
      {state.turns.length > 0 && <LiveLatency state={state} />}
      {(state.phase.name === "live" || state.phase.name === "reconnecting") && <Controls call={call} />}
      {isDemoVoice && hasWords && (
        <Text className={classes.honest} fz="xs" c="dimmed">
          Offline demo voice and speech recognition. <BetterVoices />
        </Text>
      )}
    </div>
  );
}

function LiveLatency({ state }: { state: CallState }) {
  return (
    <div className={classes.latency}>
      <LatencySummary turns={state.turns} />
      <LatencyBars turns={state.turns.slice(-LIVE_BARS)} />
    </div>
  );
}

/** Where natural speech comes from; packs of voices are installed by superusers. */
function BetterVoices() {
  const isSuperuser = useAccount().data?.is_superuser === true;
  const place = { to: "/settings/$section", params: { section: "models" } } as const;
  return (
    <>
      For natural speech,{" "}
      <Anchor fz="inherit" underline="always" renderRoot={(props) => <Link {...place} {...props} />}>
        add a vendor key
      </Anchor>
      {isSuperuser && (
        <>
          {" or "}
          <Anchor
            fz="inherit"
            underline="always"
            renderRoot={(props) => <Link {...place} hash="offline-voices" {...props} />}
          >
            install better offline voices
          </Anchor>
        </>
      )}
      .
    </>
  );
}

interface StageProps {
  phase: Phase;
  agentName: string;
  isDemoVoice: boolean;
  onStart: () => void;
  choice: ReactNode;
}

/** What stands where the conversation will be. */
function Stage({ phase, agentName, isDemoVoice, onStart, choice }: StageProps) {
  switch (phase.name) {
    case "asking":
      return <Waiting title="Allow the microphone" words="Your browser is asking for permission to use it." />;
    case "connecting":
      return <Waiting title="Connecting…" words={`Calling ${agentName}.`} />;
    case "live":
      return <Waiting title="Connected" words={`${agentName} is about to speak.`} />;
    case "reconnecting":
      return <Waiting title="Reconnecting…" words="The connection dropped. The call will continue in a moment." />;
    case "denied":
      return <Denied reason={phase.reason} onRetry={onStart} />;
    case "failed":
      return (
        <Center title="The call failed" words={phase.message}>
          <Button onClick={onStart}>Try again</Button>
        </Center>
      );
    case "ended":
      return (
        <Center title="Call ended" words={endWords(phase)}>
          <Button onClick={onStart}>Talk again</Button>
        </Center>
      );
    case "idle":
      return (
        <Center icon title={`Talk to ${agentName}`} words="Speak into your microphone. Interrupt whenever you like.">
          {choice}
          <Button size="lg" radius="xl" px={36} onClick={onStart}>
            Start talking
          </Button>
          {isDemoVoice && (
            <Text fz="sm" c="dimmed" maw={380} ta="center">
              This is the offline demo voice, which needs no account. It sounds robotic, and it understands short, clear
              sentences best. <BetterVoices />
            </Text>
          )}
        </Center>
      );
  }
}

function Waiting({ title, words: text }: { title: string; words: string }) {
  return (
    <Center title={title} words={text}>
      <Loader type="dots" />
    </Center>
  );
}

function Center({
  title,
  words: text,
  icon = false,
  children,
}: {
  title: string;
  words: string;
  icon?: boolean;
  children: ReactNode;
}) {
  return (
    <div className={classes.stage} role="status">
      {icon && (
        <svg className={classes.wave} viewBox="0 0 120 60" aria-hidden="true">
          <path d="M8 24v12M21 16v28M34 26v8M47 8v44M60 18v24M73 2v56M86 20v20M99 12v36M112 25v10" />
        </svg>
      )}
      <p className={classes.big}>{title}</p>
      <Text c="dimmed" ta="center" maw={420}>
        {text}
      </Text>
      {children}
    </div>
  );
}

function Ending({ agentId, state, onStart }: { agentId: number; state: CallState; onStart: () => void }) {
  const { phase, runId } = state;
  if (phase.name !== "ended" && phase.name !== "failed") return null;
  return (
    <div className={classes.ending} role="status">
      <div>
        <Text fw={600}>{phase.name === "ended" ? "Call ended" : "Call dropped"}</Text>
        <Text fz="sm" c="dimmed">
          {phase.name === "ended" ? endWords(phase) : phase.message}
        </Text>
      </div>
      <div className={classes.actions}>
        {runId !== null && (
          <Button
            variant="default"
            renderRoot={(props) => <Link to="/agents/$agentId/runs/$runId" params={{ agentId, runId }} {...props} />}
          >
            Recording and details
          </Button>
        )}
        <Button onClick={onStart}>Talk again</Button>
      </div>
    </div>
  );
}

function endWords(phase: Extract<Phase, { name: "ended" }>): string {
  const parts = [phase.outcome ?? phase.status, phase.endReason].filter((part): part is string => part !== null);
  return parts.map(humanize).join(" · ");
}

function PhaseLabel({ phase }: { phase: Phase }) {
  const isLive = phase.name === "live";
  const names: Record<Phase["name"], string> = {
    idle: "Not connected",
    asking: "Microphone…",
    denied: "No microphone",
    connecting: "Connecting…",
    live: "Live",
    reconnecting: "Reconnecting…",
    ended: "Ended",
    failed: "Failed",
  };
  return (
    <span className={classes.phase} data-live={isLive || undefined}>
      {names[phase.name]}
    </span>
  );
}
