/** The first minutes: talk with a finished agent, make it yours, let it call. Shown until all is done, or put away. */

import { Button, CloseButton, Group, Loader, Text, Title } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { Check, Headphones } from "lucide-react";
import type { AgentItem, Run } from "../../lib/api/types";
import { useSampleCall } from "./api";
import classes from "./get-started.module.css";

export function GetStarted({ agents, onCreate }: { agents: AgentItem[]; onCreate: () => void }) {
  const [isAway, setIsAway] = useLocalStorage({
    key: "offhook.started",
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  // The demonstrations come with the installation; without them, the oldest agent.
  const active = agents.filter((agent) => agent.status === "active");
  const demo = active.find((agent) => agent.name.endsWith("(demo)")) ?? active.at(-1);
  const runCount = agents.reduce((sum, agent) => sum + agent.total_runs, 0);
  const sampleQuery = useSampleCall(!isAway && runCount <= 1);
  const sample = sampleQuery.data ?? null;
  // One run may be the sample call, as long as that is not known.
  const hasTalked = runCount > (sample !== null || sampleQuery.isPending ? 1 : 0);
  const hasChanged = agents.some((agent) => agent.has_draft || (agent.published_version_number ?? 0) > 1);
  const hasPublished = agents.some(
    (agent) =>
      (agent.published_version_number ?? 0) > 1 ||
      (agent !== demo && !agent.name.endsWith("(demo)") && agent.published_version_number !== null),
  );
  if (isAway || (hasTalked && hasChanged && hasPublished) || demo === undefined) return null;
  const draft = active.find((agent) => agent.has_draft) ?? demo;
  const open = (words: string, agent = demo) => (
    <Button
      size="sm"
      variant={hasTalked ? "default" : "filled"}
      renderRoot={(props) => <Link to="/agents/$agentId" params={{ agentId: agent.id }} {...props} />}
    >
      {words}
    </Button>
  );
  return (
    <section className={classes.box} aria-label="Getting started">
      <div className={classes.head}>
        <div>
          <Title order={2} fz="lg">
            {hasTalked ? "Next steps" : "Talk to an agent in a minute"}
          </Title>
          <Text fz="sm" c="dimmed">
            No account or API key needed. Demo agents and a simulated phone network are ready to use.
          </Text>
        </div>
        <CloseButton aria-label="Hide getting started" onClick={() => setIsAway(true)} />
      </div>
      <ol className={classes.steps}>
        <Step
          number={1}
          isDone={hasTalked}
          title="Talk to it"
          words={`Open “${demo.name}” and press Start talking. All you need is a microphone.`}
        >
          {!hasTalked && (
            <Group gap="xs">
              {open("Talk now")}
              {sample !== null &&
                (sample.status === "completed" ? <HearFirst sample={sample} /> : <SampleInProgress />)}
            </Group>
          )}
        </Step>
        <Step
          number={2}
          isDone={hasChanged}
          title="Make it yours"
          words="Change what a step says and talk again. Every test runs your draft. Or create your own agent."
        >
          {hasTalked && !hasChanged && (
            <Button size="sm" variant="default" onClick={onCreate}>
              New agent
            </Button>
          )}
        </Step>
        <Step
          number={3}
          isDone={hasPublished}
          title="Publish it"
          words="Once published, it answers calls and campaigns can use it. Simulated phones answer, are busy, or go to voicemail."
        >
          {hasTalked && hasChanged && !hasPublished && open(`Open ${draft.name}`, draft)}
        </Step>
      </ol>
    </section>
  );
}

/** For those without a microphone at hand: the recording of a call that was simulated. */
function HearFirst({ sample }: { sample: Pick<Run, "id" | "workflow_id"> }) {
  return (
    <Button
      size="sm"
      variant="default"
      leftSection={<Headphones size={15} aria-hidden="true" />}
      renderRoot={(props) => (
        <Link
          to="/agents/$agentId/runs/$runId"
          params={{ agentId: sample.workflow_id, runId: sample.id }}
          search={{ listen: true }}
          {...props}
        />
      )}
    >
      Hear it first
    </Button>
  );
}

function SampleInProgress() {
  return (
    <Button size="sm" variant="default" disabled leftSection={<Loader size={14} aria-hidden="true" />}>
      Recording a sample call
    </Button>
  );
}

interface StepProps {
  number: number;
  isDone: boolean;
  title: string;
  words: string;
  children: React.ReactNode;
}

function Step({ number, isDone, title, words, children }: StepProps) {
  return (
    <li className={classes.step} data-done={isDone || undefined}>
      <span className={classes.mark}>
        {isDone ? <Check size={15} strokeWidth={2.6} role="img" aria-label="Done" /> : number}
      </span>
      <div>
        <Text fw={600} fz="sm">
          {title}
        </Text>
        <Text fz="sm" c="dimmed" mb={children ? 10 : 0}>
          {words}
        </Text>
        {children}
      </div>
    </li>
  );
}
