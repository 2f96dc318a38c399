/** How far the draft is saved, in a word; and the decision when two people have changed one agent. */

import { Alert, Button, Group, Loader, Modal, Text, Tooltip } from "@mantine/core";
import { Check, CloudOff } from "lucide-react";
import { useState } from "react";
import { diff } from "../../../graph/diff";
import { fetchAgent } from "../../../lib/organization/agent";
import { notifyError, notifySuccess } from "../../../lib/ui/notifications";
import { type Document, documentOf, saveAsCopy, useRefresh } from "../api";
import { ChangeList } from "../panels/change-list";
import { useEditorContext } from "../state/editor";
import classes from "./header.module.css";
import { savingProblem } from "../state/saving-problem";

export function SaveState() {
  const { saving, flush, document, specs } = useEditorContext();
  switch (saving.name) {
    case "saved":
      return (
        <span className={classes.saving} role="status">
          <Check size={15} /> Saved
        </span>
      );
    case "waiting":
    case "saving":
      return (
        <span className={classes.saving} role="status">
          <Loader size={12} color="gray" /> Saving…
        </span>
      );
    case "failed":
      return (
        <Tooltip label={savingProblem(saving.error, document.definition, specs)} multiline maw={340}>
          <span className={classes.saving} data-state="failed" role="status">
            <CloudOff size={15} /> Not saved
            <Button size="compact-xs" variant="light" color="red" onClick={() => void flush().catch(() => undefined)}>
              Try again
            </Button>
          </span>
        </Tooltip>
      );
    case "conflict":
      return (
        <span className={classes.saving} data-state="conflict" role="status">
          <CloudOff size={15} /> Not saved
        </span>
      );
  }
}

/** Stands over the canvas until it is decided whose changes stay. */
export function ConflictBar() {
  const { agent, document, specs, saving, reload, keepMine } = useEditorContext();
  const [isBusy, setIsBusy] = useState(false);
  const refresh = useRefresh(agent.id);
  const [theirs, setTheirs] = useState<Document | null>(null);
  if (saving.name === "failed") {
    return (
      <Alert color="red" variant="light" radius={0} py={8} role="alert">
        <Text fz="sm">
          Your latest changes are not saved. {savingProblem(saving.error, document.definition, specs)}
        </Text>
      </Alert>
    );
  }
  if (saving.name !== "conflict") return null;
  const decide = (action: () => Promise<void>) => () => {
    setIsBusy(true);
    void action()
      .catch(notifyError)
      .finally(() => setIsBusy(false));
  };
  const keepBoth = async () => {
    const copy = await saveAsCopy(agent.id, document);
    await reload();
    await refresh();
    notifySuccess(`Your version is saved as “${copy.name}”.`);
  };
  return (
    <Alert color="orange" variant="light" radius={0} py={8} role="alert">
      <Group justify="space-between" gap="sm">
        <Text fz="sm">
          <b>This agent was changed elsewhere</b>, by someone else or in another tab. Your latest changes are not saved.
          Whichever version you keep, undo restores the other until you close this page.
        </Text>
        <Group gap={8}>
          <Button
            size="xs"
            variant="subtle"
            color="orange"
            c="inherit"
            disabled={isBusy}
            onClick={decide(async () => setTheirs(documentOf(await fetchAgent(agent.id))))}
          >
            Show differences
          </Button>
          <Button size="xs" variant="default" disabled={isBusy} onClick={decide(reload)}>
            Load theirs
          </Button>
          <Button size="xs" variant="default" disabled={isBusy} onClick={decide(keepBoth)}>
            Save mine as a copy
          </Button>
          <Button size="xs" color="orange" disabled={isBusy} onClick={decide(keepMine)}>
            Keep mine
          </Button>
        </Group>
      </Group>
      <Modal
        opened={theirs !== null}
        onClose={() => setTheirs(null)}
        size="xl"
        radius="lg"
        title="Changes from their version to yours"
      >
        {theirs !== null && <ChangeList changes={diff(contentOf(theirs), contentOf(document))} />}
      </Modal>
    </Alert>
  );
}

function contentOf({ definition, configurations, variables }: Document) {
  return { definition, settings: { ...configurations, ...(Object.keys(variables).length > 0 ? { variables } : {}) } };
}
