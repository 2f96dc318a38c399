/** A call played again with the agent's draft or published version: the first point at which it would have gone otherwise. */

import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Panel } from "../../../components/layout/panel";
import { api, unwrap } from "../../../lib/api/client";
import { messageOf } from "../../../lib/api/errors";
import type { RunDetail, Schema } from "../../../lib/api/types";
import { formatClock, humanize } from "../../../lib/format/format";
import { usePermissions } from "../../../lib/organization/organization-context";
import { isLive } from "../../../lib/runs/run-state";
import classes from "./call-replay.module.css";
import { useReplayVersion } from "./replay-version";

type Replay = Schema<"RunReplayResponse">;
type Difference = Schema<"ReplayDifferenceResponse">;

interface CallReplayProps {
  agentId: number;
  run: Pick<RunDetail, "id" | "status" | "has_journal">;
  /** Shows the turn of what the caller said, counted from 1. */
  onTurn: (turn: number) => void;
}

/** Not there without a journal, while the run goes on, and for those who may not change the agent. */
export function CallReplay({ agentId, run, onTurn }: CallReplayProps) {
  const { write: canWrite } = usePermissions();
  const version = useReplayVersion(agentId);
  const replay = useMutation({
    mutationFn: (number: number | null) =>
      unwrap(
        api.POST("/api/v1/workflow/{workflow_id}/runs/{run_id}/replay", {
          params: {
            path: { workflow_id: agentId, run_id: run.id },
            query: number === null ? {} : { version: number },
          },
        }),
      ),
  });
  if (!canWrite || !run.has_journal || isLive(run) || version === null) return null;
  return (
    <Panel title="Replay">
      <Stack gap="sm" p="lg">
        <Group gap="sm">
          <Button variant="default" loading={replay.isPending} onClick={() => replay.mutate(version.number)}>
            {replay.data === undefined ? `Replay with ${version.name}` : "Replay again"}
          </Button>
          <Text fz="xs" c="dimmed">
            No models or tools are called. Takes a few seconds.
          </Text>
        </Group>
        {replay.isError && (
          <Alert color="red" variant="light" role="alert" py="xs">
            {messageOf(replay.error)}
          </Alert>
        )}
        {replay.data !== undefined && <Answer replay={replay.data} onTurn={onTurn} />}
      </Stack>
    </Panel>
  );
}

function Answer({ replay, onTurn }: { replay: Replay; onTurn: (turn: number) => void }) {
  const difference = replay.first_difference;
  return (
    <div role="status" className={classes.answer}>
      <Text fz="sm" fw={600}>
        {describeReplay(replay)}
      </Text>
      {difference !== null && <Difference difference={difference} onTurn={onTurn} />}
    </div>
  );
}

function Difference({ difference, onTurn }: { difference: Difference; onTurn: (turn: number) => void }) {
  const { turn } = difference;
  return (
    <dl>
      <dt>Where</dt>
      <dd>
        {turn === 0 ? (
          "Before the first turn"
        ) : (
          <button type="button" className={classes.turn} onClick={() => onTurn(turn)}>
            {`Turn ${turn}`}
          </button>
        )}
        {`, ${[difference.node, formatClock(difference.at_ms)].filter(Boolean).join(", ")}`}
      </dd>
      <dt>What</dt>
      <dd>{humanize(difference.what)}</dd>
      <dt>Expected</dt>
      <dd>{difference.expected}</dd>
      <dt>Came</dt>
      <dd>{difference.came}</dd>
    </dl>
  );
}

export function describeReplay(replay: Pick<Replay, "is_same" | "is_exact" | "version_number">): string {
  if (replay.is_same) return `No difference with version ${replay.version_number}`;
  if (replay.is_exact) return `Different with version ${replay.version_number}`;
  return "Replays differently even with its own version, so other versions cannot be compared";
}
