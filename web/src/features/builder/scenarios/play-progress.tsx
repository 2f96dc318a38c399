/** How far the newest play is, what came of it, and the button that cancels it. */

import { Button, Group, Progress, Text } from "@mantine/core";
import { FormProblem } from "../../../components/forms/dialog";
import { messageOf } from "../../../lib/api/errors";
import { formatMoney, formatTimeAgo } from "../../../lib/format/format";
import { useEditorContext } from "../state/editor";
import { isOpen, type Play, useCancelPlay } from "./api";
import { stateName } from "./scenario";
import classes from "./scenarios.module.css";

export function PlayProgress({ play }: { play: Play }) {
  const { agent, canEdit } = useEditorContext();
  const cancel = useCancelPlay(agent.id);
  const isRunning = isOpen(play);
  const percent = play.total === 0 ? 0 : (100 * play.done) / play.total;
  return (
    <div className={classes.progress}>
      <Group justify="space-between" gap={8} wrap="nowrap">
        <Text fz="sm" role="status">
          {isRunning
            ? `${stateName(play.state)}: ${play.done} of ${play.total}`
            : `Last run: ${play.passed} of ${play.total} passed`}
        </Text>
        {isRunning && canEdit ? (
          <Button size="compact-sm" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate(play.id)}>
            Cancel
          </Button>
        ) : (
          <Text fz="xs" c="dimmed">
            {formatTimeAgo(play.finished_at ?? play.created_at)}
          </Text>
        )}
      </Group>
      {isRunning && <Progress value={percent} size="sm" mt={6} aria-label="Scenarios that are done" />}
      {!isRunning && !["passed", "failed"].includes(play.state) && (
        <Text fz="sm" c="dimmed">
          {stateName(play.state)}.{play.error === null ? "" : ` ${play.error}`}
        </Text>
      )}
      {(play.cost_cents ?? 0) > 0 && (
        <Text fz="xs" c="dimmed">
          Models: {formatMoney(play.cost_cents)}
        </Text>
      )}
      <FormProblem words={cancel.isError ? messageOf(cancel.error) : null} />
    </div>
  );
}
