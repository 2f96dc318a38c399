/** A note on the canvas, behind steps and lines. Its resize handles lie in front of them, so that no step covers them. */

import { type Node, type NodeProps, NodeResizer, type OnResizeEnd, ViewportPortal } from "@xyflow/react";
import { memo, useCallback } from "react";
import { NOTE_SIDES, type Note } from "../../../graph/definition";
import { colorOf, placeNotes } from "../../../graph/editing/notes";
import { useEditorContext } from "../state/editor";
import classes from "./notes.module.css";

export type CanvasNote = Node<{ note: Note; canEdit: boolean }, "note">;

export const NoteCard = memo(function NoteCard(props: NodeProps<CanvasNote>) {
  const { data, selected } = props;
  const { note, canEdit } = data;
  return (
    <>
      {canEdit && selected && <Frame {...props} />}
      <div className={classes.note} data-color={colorOf(note)} data-selected={selected || undefined}>
        {note.text === "" ? <span className={classes.empty}>Empty note</span> : note.text}
      </div>
    </>
  );
});

function Frame({ id, positionAbsoluteX: left, positionAbsoluteY: top, width, height }: NodeProps<CanvasNote>) {
  const { change } = useEditorContext();
  // a stable function: a new one would restart the gesture
  const place = useCallback<OnResizeEnd>(
    (_, { x, y, width, height }) => {
      const size = { width: Math.round(width), height: Math.round(height) };
      const places = new Map([[id, { position: { x: Math.round(x), y: Math.round(y) }, ...size }]]);
      change((doc) => ({ ...doc, definition: placeNotes(doc.definition, places) }));
    },
    [id, change],
  );
  return (
    <ViewportPortal>
      <div className={`nopan ${classes.frame}`} style={{ transform: `translate(${left}px, ${top}px)`, width, height }}>
        <NodeResizer
          nodeId={id}
          minWidth={NOTE_SIDES.least}
          minHeight={NOTE_SIDES.least}
          maxWidth={NOTE_SIDES.most}
          maxHeight={NOTE_SIDES.most}
          lineClassName={classes.edge ?? ""}
          handleClassName={classes.corner ?? ""}
          onResizeEnd={place}
        />
      </div>
    </ViewportPortal>
  );
}
