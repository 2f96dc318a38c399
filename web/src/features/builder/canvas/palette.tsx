/** The kinds of steps that can be added: dragged onto the canvas, or by a click. */

import { Tooltip, UnstyledButton } from "@mantine/core";
import type { Definition } from "../../../graph/definition";
import { type NodeSpec, canAdd, mayEnter, mayLeave } from "../../../graph/specs";
import { KIND_MIME, NOTE_KIND } from "./canvas";
import { useEditorContext } from "../state/editor";
import type { Selection } from "../state/editor-state";
import { KindIcon, NoteIcon } from "./kinds";
import classes from "./palette.module.css";
import { useCanvasActions } from "../state/use-canvas-actions";

export function Palette() {
  const { specs, document, selection } = useEditorContext();
  const actions = useCanvasActions();
  return (
    <nav className={classes.palette} aria-label="Step types">
      {[...specs.values()].map((spec) => {
        const isOff = !canAdd(spec, document.definition);
        const goal = goalOf(spec, document.definition, selection, specs);
        return (
          <Tooltip
            key={spec.name}
            label={
              <>
                <b>{spec.display_name}</b>
                <br />
                {isOff ? "Only one is allowed." : `${spec.description} ${WAYS[goal.kind]}`}
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
                if (goal.kind === "after") actions.addAfter(spec.name, goal.id);
                else if (goal.kind === "within") actions.insert(spec.name, goal.id);
                else actions.add(spec.name);
              }}
            >
              <KindIcon kind={spec.name} icon={spec.icon} />
              <span>{spec.display_name}</span>
            </UnstyledButton>
          </Tooltip>
        );
      })}
      <Tooltip
        label={
          <>
            <b>Note</b>
            <br />
            Text on the canvas for people who edit this agent. Drag it to the canvas, or click to add it.
          </>
        }
        position="right"
        multiline
        maw={260}
        openDelay={350}
      >
        <UnstyledButton
          className={classes.item}
          draggable
          onDragStart={(event) => {
            event.dataTransfer.setData(KIND_MIME, NOTE_KIND);
            event.dataTransfer.effectAllowed = "copy";
          }}
          onClick={() => actions.addNote()}
        >
          <NoteIcon />
          <span>Note</span>
        </UnstyledButton>
      </Tooltip>
    </nav>
  );
}

/** Where a click puts a step. */
type Goal = { kind: "after"; id: string } | { kind: "within"; id: string } | { kind: "free" };

const WAYS: Record<Goal["kind"], string> = {
  after: "Drag it, or click to add it after the selected step.",
  within: "Drag it, or click to insert it into the selected transition.",
  free: "Drag it, or click to add it in the middle of the canvas, not connected to any step.",
};

/** After the one step that is chosen, or within the one edge, where this kind may stand there; else where there is room. */
function goalOf(
  spec: NodeSpec,
  { nodes }: Definition,
  { nodeIds, edgeIds }: Selection,
  specs: ReadonlyMap<string, NodeSpec>,
): Goal {
  const [nodeId, ...moreNodes] = nodeIds;
  const [edgeId, ...moreEdges] = edgeIds;
  if (nodeId !== undefined && moreNodes.length === 0) {
    const chosen = nodes.find((node) => node.id === nodeId);
    // a note leads nowhere
    const isJoined = chosen !== undefined && mayEnter(spec) && mayLeave(specs.get(chosen.type));
    return isJoined ? { kind: "after", id: nodeId } : { kind: "free" };
  }
  const isChosen = nodeId === undefined && edgeId !== undefined && moreEdges.length === 0;
  return isChosen && mayEnter(spec) && mayLeave(spec) ? { kind: "within", id: edgeId } : { kind: "free" };
}
