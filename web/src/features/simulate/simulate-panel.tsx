/** Runs a simulated call to a made-up person and shows it live. */

import { ActionIcon, Button, Group, Loader, Text, Tooltip, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Headphones, PhoneOutgoing } from "lucide-react";
import { LatencyBars, LatencySummary } from "../../components/charts/latency";
import { Problem } from "../../components/feedback/problem";
import { ToolCalls } from "../../components/runs/tool-calls";
import { Transcript } from "../../components/runs/transcript";
import { type LiveSoundState, useLiveSound } from "../../lib/audio/use-live-sound";
import { humanize } from "../../lib/format/format";
import { sortLines } from "../../lib/live/live-run";
import { PEOPLE } from "./people";
import classes from "./simulate.module.css";
import type { Simulation } from "./use-simulation";

export function SimulatePanel({
  simulation,
  agentId,
  agentName,
}: {
  simulation: Simulation;
  agentId: number;
  agentName: string;
}) {
  const { runId } = simulation;
  if (runId === null) return <People simulation={simulation} agentName={agentName} />;
  return <Call simulation={simulation} runId={runId} agentId={agentId} agentName={agentName} />;
}

interface CallProps {
  simulation: Simulation;
  runId: number;
  agentId: number;
  agentName: string;
}

function Call({ simulation, runId, agentId, agentName }: CallProps) {
  const { run, person } = simulation;
  const isOver = run.ended !== null;
  const sound = useLiveSound(agentId, runId, !isOver);
  return (
    <div className={classes.call}>
      <Group className={classes.head} justify="space-between" wrap="nowrap">
        <div>
          <Text fw={600} fz="sm">
            {person?.name}
          </Text>
          <Text fz="xs" c="dimmed">
            {person?.number}
          </Text>
        </div>
        <Group gap={8} wrap="nowrap">
          {run.isAnswered && !isOver && <ListenButton {...sound} />}
          <span className={classes.state} data-live={!isOver || undefined} role="status">
            {run.ended === null
              ? run.isAnswered
                ? "On the call"
                : "Ringing…"
              : humanize(run.ended.outcome ?? run.ended.status)}
          </span>
        </Group>
      </Group>
      {SOUND_NOTES[sound.state] !== undefined && (
        <Text className={classes.note} fz="xs" c="dimmed" role="status">
          {SOUND_NOTES[sound.state]}
        </Text>
      )}
      {run.transcript.lines.length === 0 && !isOver ? (
        <div className={classes.ringing}>
          <Loader type="dots" />
          <Text c="dimmed" fz="sm">
            {run.isAnswered ? `${agentName} is about to speak.` : "The phone is ringing."}
          </Text>
        </div>
      ) : (
        <Transcript lines={sortLines(run.transcript.lines)} agentName={agentName} partyName="contact" isLive />
      )}
      <ToolCalls calls={run.tools} />
      {run.turns.length > 0 && (
        <div className={classes.latency}>
          <LatencySummary turns={run.turns} />
          <LatencyBars turns={run.turns.slice(-4)} />
        </div>
      )}
      <Group className={classes.foot} justify="flex-end" gap={8}>
        {isOver && (
          <Button
            variant="default"
            size="xs"
            renderRoot={(props) => <Link to="/agents/$agentId/runs/$runId" params={{ agentId, runId }} {...props} />}
          >
            Recording and details
          </Button>
        )}
        {isOver ? (
          <Button size="xs" onClick={simulation.leave}>
            Call someone else
          </Button>
        ) : (
          <Button size="xs" color="red" onClick={simulation.hangUp}>
            Hang up
          </Button>
        )}
      </Group>
    </div>
  );
}

const SOUND_NOTES: Partial<Record<LiveSoundState, string>> = {
  waiting: "Connecting to the call’s audio…",
  silent: "There is no audio to listen to: this agent does not record calls, or the recording is on another server.",
  failed: "The call’s audio could not be loaded. Try again.",
};

function ListenButton({ state, listen, stop }: { state: LiveSoundState; listen: () => void; stop: () => void }) {
  const isOn = state !== "off" && state !== "failed";
  const label = isOn ? "Stop listening" : "Listen to the call";
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant={isOn ? "filled" : "default"}
        size={30}
        onClick={isOn ? stop : listen}
        aria-label={label}
        aria-pressed={isOn}
      >
        <Headphones size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

function People({ simulation, agentName }: { simulation: Simulation; agentName: string }) {
  return (
    <div className={classes.people}>
      <Text fz="sm" c="dimmed" mb="sm">
        {agentName} calls a simulated person over a simulated phone network. No real calls are placed.
      </Text>
      {simulation.error !== null && <Problem title="The call could not be placed" error={simulation.error} />}
      {PEOPLE.map((person) => (
        <UnstyledButton
          key={person.number}
          className={classes.person}
          disabled={simulation.isStarting}
          onClick={() => simulation.call(person)}
        >
          {simulation.isStarting && simulation.person === person ? <Loader size={15} /> : <PhoneOutgoing size={15} />}
          <span>
            <b>{person.name}</b>
            {person.about}
          </span>
          <code>{person.number.slice(-2)}</code>
        </UnstyledButton>
      ))}
    </div>
  );
}
