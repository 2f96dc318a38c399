/** Publishes the draft. What keeps it from that is shown in place, on the canvas and in the forms. */

import { Button, CloseButton, Group, Popover, Text } from "@mantine/core";
import { useState } from "react";
import { ApiError, messageOf } from "../../../lib/api/errors";
import { usePublish } from "../api";
import { useEditorContext } from "../state/editor";
import { showProblems } from "../state/show-problems";

export function PublishButton() {
  const { agent, flush, saving } = useEditorContext();
  const publish = usePublish(agent.id);
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const hasSomething = agent.has_draft || saving.name === "waiting" || saving.name === "saving";

  const run = async () => {
    setIsBusy(true);
    setFailure(null);
    try {
      await publish.mutateAsync(await flush());
    } catch (error) {
      if (error instanceof ApiError && error.problems.length > 0) {
        setFailure(
          error.problems.length === 1 ? "Not published: 1 error." : `Not published: ${error.problems.length} errors.`,
        );
        showProblems();
      } else setFailure(`Not published: ${messageOf(error)}`);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    // Publishing opens nothing: what is shown then is an alert, and no dialog.
    <Popover
      withRoles={false}
      opened={failure !== null}
      onChange={() => setFailure(null)}
      position="bottom-end"
      withArrow
      shadow="md"
    >
      <Popover.Target>
        <Button
          size="sm"
          data-tour="publish"
          loading={isBusy}
          disabled={!hasSomething || saving.name === "conflict"}
          onClick={() => void run()}
        >
          {hasSomething ? "Publish" : "Published"}
        </Button>
      </Popover.Target>
      <Popover.Dropdown maw={320} role="alert">
        <Group gap={6} wrap="nowrap" align="flex-start">
          <Text fz="sm">{failure}</Text>
          <CloseButton size="sm" aria-label="Close" onClick={() => setFailure(null)} />
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}
