/** The kinds of steps that can be added: dragged onto the canvas, or by a click. */

import { Tooltip, UnstyledButton } from "@mantine/core";
import { canAdd, mayEnter } from "../../../graph/specs";
import { KIND_MIME } from "./canvas";
import { edgeInTheMiddle } from "./edge-at";
import { useEditorContext } from "../state/editor";
import { KindIcon } from "./kinds";
import classes from "./palette.module.css";
import { useCanvasActions } from "../state/use-canvas-actions";

export function Palette() {
  const { specs, document, selection } = useEditorContext();
  const actions = useCanvasActions();
  const chosen =
    selection.nodeIds.length === 1
      ? document.definition.nodes.find((node) => node.id === selection.nodeIds[0])
      : undefined;
  return (
    <nav className={classes.palette} aria-label="Step types">
      {[...specs.values()].map((spec) => {
        const isOff = !canAdd(spec, document.definition);
        return (
          <Tooltip
            key={spec.name}
            label={
              <>
                <b>{spec.display_name}</b>
                <br />
                {isOff
                  ? "Only one is allowed."
                  : `${spec.description} Drag it, or click to add it after the selected step.`}
              </>
            }
            position="right"
            multiline
            maw={260}
            openDelay={350}
          >
            <UnstyledButton
              className={classes.item}
              aria-disabled={isOff}
              draggable={!isOff}
              onDragStart={(event) => {
                event.dataTransfer.setData(KIND_MIME, spec.name);
                event.dataTransfer.effectAllowed = "copy";
              }}
              onClick={() => {
                // After the chosen step, where that may lead somewhere; into the chosen edge; else in the middle.
                const edge = selection.edgeIds.length === 1 ? selection.edgeIds[0] : edgeInTheMiddle();
                if (chosen !== undefined && mayEnter(spec)) actions.addAfter(spec.name, chosen.id);
                else if (chosen === undefined && edge !== undefined) actions.insert(spec.name, edge);
                else actions.add(spec.name);
              }}
            >
              <KindIcon kind={spec.name} icon={spec.icon} />
              <span>{spec.display_name}</span>
            </UnstyledButton>
          </Tooltip>
        );
      })}
    </nav>
  );
}
