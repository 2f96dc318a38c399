/** What a canvas without steps says, and how to begin. */

import { Anchor, Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { canAdd } from "../../../graph/specs";
import { useEditorContext } from "../state/editor";
import { useCanvasActions } from "../state/use-canvas-actions";
import classes from "./empty-canvas.module.css";

const START = "startCall";

export function EmptyCanvas() {
  const { specs, document, canEdit } = useEditorContext();
  const actions = useCanvasActions();
  const start = specs.get(START);
  return (
    <section className={classes.empty} aria-label="No steps yet">
      <Text fw={600}>No steps yet</Text>
      {canEdit ? (
        <>
          <Text fz="sm" c="dimmed" className={classes.more}>
            Every call begins at a start step. Add it, write what the agent says, and go on from there.
          </Text>
          {start !== undefined && canAdd(start, document.definition) && (
            <Button mt={8} leftSection={<Plus size={16} />} onClick={() => actions.add(START)}>
              Add start step
            </Button>
          )}
          <Text fz="sm" c="dimmed">
            Or{" "}
            <Anchor fz="sm" renderRoot={(props) => <Link to="/" search={{ create: true }} {...props} />}>
              create an agent from a template
            </Anchor>
            .
          </Text>
        </>
      ) : (
        <Text fz="sm" c="dimmed">
          This version has no steps.
        </Text>
      )}
    </section>
  );
}
