/** Publishes the draft, after a look at what changes. What keeps it from that is shown in place, on the canvas and in the forms. */

import { Button, CloseButton, Group, Popover, Text } from "@mantine/core";
import { useState } from "react";
import { ApiError, messageOf } from "../../../lib/api/errors";
import { fetchValidation } from "../api";
import { PublishDialog } from "../panels/publish-dialog";
import { useEditorContext } from "../state/editor";
import { showProblems } from "../state/show-problems";

export function PublishButton() {
  const { agent, flush, saving } = useEditorContext();
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [isAsking, setIsAsking] = useState(false);
  const hasSomething = agent.has_draft || saving.name === "waiting" || saving.name === "saving";

  const refuse = (error: unknown) => {
    setIsAsking(false);
    if (error instanceof ApiError && error.problems.length > 0) refuseProblems(error.problems.length);
    else setFailure(`Not published: ${messageOf(error)}`);
  };
  const refuseProblems = (count: number) => {
    setFailure(`Not published: ${count} ${count === 1 ? "error" : "errors"}.`);
    showProblems();
  };
  const ask = async () => {
    setIsBusy(true);
    setFailure(null);
    try {
      await flush();
      const { errors } = await fetchValidation(agent.id);
      if (errors.length > 0) refuseProblems(errors.length);
      else setIsAsking(true);
    } catch (error) {
      refuse(error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <>
      {/* What is shown here is an alert, and no dialog. */}
      <Popover
        withRoles={false}
        opened={failure !== null}
        onChange={() => setFailure(null)}
        position="bottom-end"
        withArrow
        shadow="md"
      >
        <Popover.Target>
          <div data-tour="publish">
            {hasSomething && (
              <Button size="sm" loading={isBusy} disabled={saving.name === "conflict"} onClick={() => void ask()}>
                Publish
              </Button>
            )}
          </div>
        </Popover.Target>
        <Popover.Dropdown maw={320} role="alert">
          <Group gap={6} wrap="nowrap" align="flex-start">
            <Text fz="sm">{failure}</Text>
            <CloseButton size="sm" aria-label="Close" onClick={() => setFailure(null)} />
          </Group>
        </Popover.Dropdown>
      </Popover>
      {isAsking && <PublishDialog onClose={() => setIsAsking(false)} onRefused={refuse} />}
    </>
  );
}
