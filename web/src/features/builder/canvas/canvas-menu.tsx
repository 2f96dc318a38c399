/** The menu at a place of the canvas: of a step, of a transition, of the empty canvas, and of a line that was let go over nothing. */

import { Kbd, Menu } from "@mantine/core";
import { Copy, LayoutGrid, type LucideIcon, Maximize, MousePointer2, Pencil, StickyNote, Trash2 } from "lucide-react";
import type { Point } from "../../../graph/definition";
import { type NodeSpec, canAdd, mayEnter, mayLeave } from "../../../graph/specs";
import { useEditorContext } from "../state/editor";
import { all } from "../state/editor-state";
import { useCanvasActions } from "../state/use-canvas-actions";
import { KindIcon } from "./kinds";

export type MenuSubject =
  { kind: "node" | "note" | "edge"; id: string } | { kind: "pane" } | { kind: "line"; from: string };

export interface MenuPlace {
  /** On the screen. */
  x: number;
  y: number;
  /** On the canvas. */
  position: Point;
  subject: MenuSubject;
}

const TITLES = {
  node: "Step menu",
  note: "Note menu",
  edge: "Transition menu",
  pane: "Canvas menu",
  line: "Choose the next step",
};

export function CanvasMenu({ place, onClose }: { place: MenuPlace | null; onClose: () => void }) {
  if (place === null) return null;
  const { subject } = place;
  return (
    <Menu opened onClose={onClose} position="bottom-start" withinPortal shadow="md">
      <Menu.Target>
        <button
          type="button"
          aria-label={TITLES[subject.kind]}
          style={{
            position: "fixed",
            left: place.x,
            top: place.y,
            width: 1,
            height: 1,
            padding: 0,
            border: 0,
            opacity: 0,
          }}
        />
      </Menu.Target>
      <Menu.Dropdown mah="70vh" style={{ overflowY: "auto" }}>
        {subject.kind === "node" && <StepItems id={subject.id} />}
        {subject.kind === "note" && <NoteItems id={subject.id} />}
        {subject.kind === "edge" && <EdgeItems id={subject.id} />}
        {subject.kind === "pane" && <PaneItems position={place.position} />}
        {subject.kind === "line" && <LineItems from={subject.from} position={place.position} />}
      </Menu.Dropdown>
    </Menu>
  );
}

function StepItems({ id }: { id: string }) {
  const { document, canEdit, specs, reveal } = useEditorContext();
  const actions = useCanvasActions();
  const node = document.definition.nodes.find((candidate) => candidate.id === id);
  const spec = specs.get(node?.type ?? "");
  const mayCopy = spec === undefined || canAdd(spec, document.definition);
  return (
    <>
      <Item icon={Pencil} name={canEdit ? "Edit" : "View"} keys="Enter" onClick={() => reveal(only(id), "form")} />
      {canEdit && mayCopy && (
        <Item icon={Copy} name="Duplicate" keys="Ctrl D" onClick={() => actions.duplicate([id])} />
      )}
      {canEdit && (
        <Item icon={Trash2} name="Remove" keys="Delete" color="red" onClick={() => actions.remove([id], [])} />
      )}
      {canEdit && mayLeave(spec) && node !== undefined && (
        <>
          <Menu.Divider />
          <Menu.Label>Add a step after it</Menu.Label>
          <KindItems isFitting={mayEnter} onChoose={(kind) => actions.addAfter(kind, id)} />
        </>
      )}
    </>
  );
}

function NoteItems({ id }: { id: string }) {
  const { canEdit, reveal } = useEditorContext();
  const actions = useCanvasActions();
  return (
    <>
      <Item icon={Pencil} name={canEdit ? "Edit" : "View"} keys="Enter" onClick={() => reveal(only(id), "form")} />
      {canEdit && (
        <>
          <Item icon={Copy} name="Duplicate" keys="Ctrl D" onClick={() => actions.duplicate([id])} />
          <Item icon={Trash2} name="Remove" keys="Delete" color="red" onClick={() => actions.remove([id], [])} />
        </>
      )}
    </>
  );
}

function EdgeItems({ id }: { id: string }) {
  const { canEdit, reveal } = useEditorContext();
  const actions = useCanvasActions();
  return (
    <>
      <Item
        icon={Pencil}
        name={canEdit ? "Edit" : "View"}
        onClick={() => reveal({ nodeIds: [], edgeIds: [id] }, "form")}
      />
      {canEdit && (
        <>
          <Item icon={Trash2} name="Remove" keys="Delete" color="red" onClick={() => actions.remove([], [id])} />
          <Menu.Divider />
          <Menu.Label>Insert a step</Menu.Label>
          <KindItems
            isFitting={(spec) => mayEnter(spec) && mayLeave(spec)}
            onChoose={(kind) => actions.insert(kind, id)}
          />
        </>
      )}
    </>
  );
}

function PaneItems({ position }: { position: Point }) {
  const { canEdit, document, select } = useEditorContext();
  const actions = useCanvasActions();
  return (
    <>
      <Item icon={MousePointer2} name="Select all" keys="Ctrl A" onClick={() => select(all(document.definition))} />
      {canEdit && (
        <Item icon={LayoutGrid} name="Arrange all steps" keys="Shift L" onClick={() => void actions.arrange()} />
      )}
      <Item icon={Maximize} name="Show all" onClick={actions.showAll} />
      {canEdit && <Item icon={StickyNote} name="Add a note here" onClick={() => actions.addNote(position)} />}
      {canEdit && (
        <>
          <Menu.Divider />
          <Menu.Label>Add a step here</Menu.Label>
          <KindItems isFitting={() => true} onChoose={(kind) => actions.add(kind, position)} />
        </>
      )}
    </>
  );
}

function LineItems({ from, position }: { from: string; position: Point }) {
  const actions = useCanvasActions();
  return (
    <>
      <Menu.Label>Connect to new step</Menu.Label>
      <KindItems isFitting={mayEnter} onChoose={(kind) => actions.add(kind, position, from)} />
    </>
  );
}

interface KindItemsProps {
  isFitting: (spec: NodeSpec) => boolean;
  onChoose: (kind: string) => void;
}

function KindItems({ isFitting, onChoose }: KindItemsProps) {
  const { specs, document } = useEditorContext();
  return [...specs.values()]
    .filter((spec) => isFitting(spec) && canAdd(spec, document.definition))
    .map((spec) => (
      <Menu.Item
        key={spec.name}
        leftSection={<KindIcon kind={spec.name} icon={spec.icon} size={13} />}
        onClick={() => onChoose(spec.name)}
      >
        {spec.display_name}
      </Menu.Item>
    ));
}

interface ItemProps {
  icon: LucideIcon;
  name: string;
  keys?: string;
  color?: string;
  onClick: () => void;
}

function Item({ icon: Icon, name, keys, color, onClick }: ItemProps) {
  return (
    <Menu.Item
      leftSection={<Icon size={15} aria-hidden="true" />}
      rightSection={keys === undefined ? undefined : <Kbd size="xs">{keys}</Kbd>}
      {...(color === undefined ? {} : { color })}
      onClick={onClick}
    >
      {name}
    </Menu.Item>
  );
}

function only(id: string) {
  return { nodeIds: [id], edgeIds: [] };
}
