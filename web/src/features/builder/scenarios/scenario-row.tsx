/** One scenario with its last result and what can be done with it. */

import { ActionIcon, Anchor, Badge, Group, Text, Tooltip } from "@mantine/core";
import { Copy, Pencil, Play as PlayIcon, Trash2 } from "lucide-react";
import { useState } from "react";
import { Confirm } from "../../../components/forms/dialog";
import { formatTimeAgo } from "../../../lib/format/format";
import { useEditorContext } from "../state/editor";
import { type LatestResult, useDeleteScenario } from "./api";
import { faultSentence, type PlainScenario, titleOf } from "./scenario";
import classes from "./scenarios.module.css";

interface ScenarioRowProps {
  scenario: PlainScenario;
  result: LatestResult | undefined;
  /** A play is not over yet. */
  isBusy: boolean;
  onRun: () => void;
  onEdit: () => void;
  onCopy: () => void;
  onShow: (result: LatestResult) => void;
}

export function ScenarioRow({ scenario, result, isBusy, onRun, onEdit, onCopy, onShow }: ScenarioRowProps) {
  const { agent, canEdit } = useEditorContext();
  const erase = useDeleteScenario(agent.id);
  const [isAsking, setIsAsking] = useState(false);
  const title = titleOf(scenario);
  const actions = [
    { label: `Run ${title}`, icon: PlayIcon, act: onRun, isOff: isBusy },
    { label: `Edit ${title}`, icon: Pencil, act: onEdit, isOff: false },
    { label: `Duplicate ${title}`, icon: Copy, act: onCopy, isOff: false },
    { label: `Delete ${title}`, icon: Trash2, act: () => setIsAsking(true), isOff: false },
  ];
  return (
    <li className={classes.row}>
      <Group justify="space-between" wrap="nowrap" gap={8} align="flex-start">
        <Text fz="sm" fw={600} className={classes.title}>
          {title}
        </Text>
        {canEdit && (
          <Group gap={0} wrap="nowrap">
            {actions.map(({ label, icon: Icon, act, isOff }) => (
              <Tooltip key={label} label={label}>
                <ActionIcon variant="subtle" color="gray" aria-label={label} disabled={isOff} onClick={act}>
                  <Icon size={15} />
                </ActionIcon>
              </Tooltip>
            ))}
          </Group>
        )}
      </Group>
      <LastResult title={title} result={result} onShow={onShow} />
      <Confirm
        title={`Delete ${title}?`}
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onConfirm={() => erase.mutate(scenario.name, { onSuccess: () => setIsAsking(false) })}
        confirm="Delete"
        isBusy={erase.isPending}
        error={erase.error}
      >
        This removes it from the draft. Published versions keep it.
      </Confirm>
    </li>
  );
}

function LastResult({ title, result, onShow }: { title: string } & Pick<ScenarioRowProps, "result" | "onShow">) {
  const { document } = useEditorContext();
  if (result === undefined)
    return (
      <Text fz="xs" c="dimmed">
        Not run with this version yet
      </Text>
    );
  return (
    <>
      <Group gap={8}>
        <Badge size="sm" variant="light" color={result.passed ? "brand" : "red"} tt="none">
          {result.passed ? "Passed" : "Failed"}
        </Badge>
        <Text fz="xs" c="dimmed">
          {formatTimeAgo(result.played_at)}
        </Text>
        <Anchor
          component="button"
          type="button"
          fz="xs"
          aria-label={`Show conversation of ${title}`}
          onClick={() => onShow(result)}
        >
          Show conversation
        </Anchor>
      </Group>
      {result.fault !== null && (
        <Text fz="sm" mt={4}>
          {result.fault.turn === null ? "" : `Turn ${result.fault.turn + 1}: `}
          {faultSentence(result.fault, document.definition)}
        </Text>
      )}
    </>
  );
}
