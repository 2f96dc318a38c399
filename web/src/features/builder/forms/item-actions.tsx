/** What can be done with a step or a note as a whole, below its form. */

import { Button, Group } from "@mantine/core";
import { Copy, Trash2 } from "lucide-react";
import { useEditorContext } from "../state/editor";
import { useCanvasActions } from "../state/use-canvas-actions";

export function ItemActions({ id }: { id: string }) {
  const { canEdit } = useEditorContext();
  const actions = useCanvasActions();
  if (!canEdit) return null;
  return (
    <Group gap={8} mt="xs">
      <Button size="xs" variant="default" leftSection={<Copy size={14} />} onClick={() => actions.duplicate([id])}>
        Duplicate
      </Button>
      <Button
        size="xs"
        variant="light"
        color="red"
        leftSection={<Trash2 size={14} />}
        onClick={() => actions.remove([id], [])}
      >
        Remove
      </Button>
    </Group>
  );
}
