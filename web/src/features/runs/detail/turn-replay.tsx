/** One turn played again with the agent's draft or published version: what it would answer now, and where it would go. */

import { Alert, Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { api, unwrap } from "../../../lib/api/client";
import { messageOf } from "../../../lib/api/errors";
import type { Schema } from "../../../lib/api/types";
import { endReasonLabel } from "../../../lib/runs/run-labels";
import { useReplayVersion } from "./replay-version";
import classes from "./turn-replay.module.css";

interface TurnReplayProps {
  agentId: number;
  runId: number;
  turn: number;
}

type Replay = Schema<"TurnReplayResponse">;

export function TurnReplay({ agentId, runId, turn }: TurnReplayProps) {
  const version = useReplayVersion(agentId);
  const replay = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST("/api/v1/workflow/{workflow_id}/runs/{run_id}/turns/{turn}/replay", {
          params: { path: { workflow_id: agentId, run_id: runId, turn } },
        }),
      ),
  });
  if (version === null) return null;
  return (
    <Stack gap="xs" className={classes.replay}>
      <Group gap="sm">
        <Button
          size="compact-sm"
          variant="default"
          loading={replay.isPending}
          onClick={() => replay.mutate()}
          aria-label={`Re-run turn ${turn} with ${version.name}`}
        >
          {replay.data === undefined ? `Re-run with ${version.name}` : "Re-run again"}
        </Button>
        <Text fz="xs" c="dimmed">
          As text. Tools are not called: they return what they returned in this run.
        </Text>
      </Group>
      {replay.isError && (
        <Alert color="red" variant="light" role="alert" py="xs">
          {messageOf(replay.error)}
        </Alert>
      )}
      {replay.data !== undefined && <Comparison replay={replay.data} />}
    </Stack>
  );
}

function Comparison({ replay }: { replay: Replay }) {
  return (
    <div role="status">
      <Group gap="xs" mb="xs">
        <Badge color={replay.is_same_path ? "gray" : "yellow"}>
          {replay.is_same_path ? "Same path" : "Different path"}
        </Badge>
        <Badge color={replay.is_same_answer ? "gray" : "yellow"}>
          {replay.is_same_answer ? "Same answer" : "Different answer"}
        </Badge>
      </Group>
      <div className={classes.columns}>
        <Outcome title="Then" outcome={replay.recorded} />
        <Outcome title={`Version ${replay.version_number}`} outcome={replay.replayed} />
      </div>
    </div>
  );
}

function Outcome({ title, outcome }: { title: string; outcome: Schema<"ReplayedOutcome"> }) {
  const values = Object.entries(outcome.values);
  return (
    <section aria-label={title}>
      <Text fz="sm" fw={600}>
        {title}
      </Text>
      <dl>
        <dt>Path</dt>
        <dd>{describePath(outcome)}</dd>
        <dt>Answer</dt>
        <dd>{outcome.answer === "" ? "None" : outcome.answer}</dd>
        {outcome.tools.length > 0 && (
          <>
            <dt>Tools</dt>
            <dd>
              {outcome.tools.map((tool) => (tool.is_ok === false ? `${tool.name} (failed)` : tool.name)).join(", ")}
            </dd>
          </>
        )}
        {values.length > 0 && (
          <>
            <dt>Learned</dt>
            <dd>{values.map(([name, value]) => `${name}: ${String(value)}`).join(", ")}</dd>
          </>
        )}
        {outcome.failure !== null && (
          <>
            <dt>Failed</dt>
            <dd>{outcome.failure}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

/** "Book → Booking, call ended". */
export function describePath(outcome: Pick<Schema<"ReplayedOutcome">, "edges" | "steps" | "end_reason">): string {
  const edges = outcome.edges.map((edge, place) => [edge.label, outcome.steps[place]].filter(Boolean).join(" → "));
  const moved = edges.length === 0 ? "Stays in the step" : edges.join(", ");
  return outcome.end_reason === null ? moved : `${moved}, then ${endReasonLabel(outcome.end_reason).toLowerCase()}`;
}
