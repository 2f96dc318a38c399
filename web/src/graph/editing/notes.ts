/** Notes on the canvas. Each change takes a definition and returns the next one. */

import { type Definition, NOTE_SIZE, type Note, type Point, unusedName } from "../definition";
import { NODE_HEIGHT, NODE_WIDTH } from "../places";

export const NOTE_COLORS = ["yellow", "blue", "green", "pink", "gray"] as const;
export type NoteColor = (typeof NOTE_COLORS)[number];
export const MAX_NOTES = 200;
export const MAX_CHARACTERS = 2000;

const NONE: readonly Note[] = [];

/** Ignores a `notes` key that another program wrote and that is not a list. */
export function notesOf({ notes }: Definition): readonly Note[] {
  return Array.isArray(notes) ? notes : NONE;
}

export function colorOf(note: Note): NoteColor {
  return NOTE_COLORS.find((color) => color === note["color"]) ?? NOTE_COLORS[0];
}

export function addNote(definition: Definition, position: Point): { definition: Definition; note: Note } {
  const taken = new Set([...definition.nodes, ...notesOf(definition)].map(({ id }) => id));
  const id = unusedName(taken, "note");
  const note: Note = { id, text: "", color: NOTE_COLORS[0], position, ...NOTE_SIZE };
  return { definition: { ...definition, notes: [...notesOf(definition), note] }, note };
}

export function setNote(definition: Definition, id: string, patch: Partial<Note>): Definition {
  return withNotes(definition, (note) => (note.id === id ? { ...note, ...patch } : note));
}

/** Moves and resizes notes; returns the same object if nothing changes. */
export function placeNotes(
  definition: Definition,
  places: ReadonlyMap<string, Partial<Pick<Note, "position" | "width" | "height">>>,
): Definition {
  return withNotes(definition, (note) => {
    const place = places.get(note.id);
    if (place === undefined) return note;
    const next = { ...note, ...place };
    const isSame =
      next.position.x === note.position.x &&
      next.position.y === note.position.y &&
      next.width === note.width &&
      next.height === note.height;
    return isSame ? note : next;
  });
}

/** Moves each note along with the step nearest to it. */
export function followSteps(definition: Definition, places: ReadonlyMap<string, Point>): Definition {
  return withNotes(definition, (note) => {
    const nearest = nearestStep(definition, note);
    const goal = nearest === undefined ? undefined : places.get(nearest.id);
    if (nearest === undefined || goal === undefined) return note;
    const by = { x: goal.x - nearest.position.x, y: goal.y - nearest.position.y };
    if (by.x === 0 && by.y === 0) return note;
    return { ...note, position: { x: note.position.x + by.x, y: note.position.y + by.y } };
  });
}

export function removeNotes(definition: Definition, ids: readonly string[]): Definition {
  const notes = notesOf(definition);
  const left = notes.filter((note) => !ids.includes(note.id));
  return left.length === notes.length ? definition : { ...definition, notes: left };
}

function nearestStep(definition: Definition, note: Note) {
  const away = ({ x, y }: Point) =>
    Math.hypot(
      x + NODE_WIDTH / 2 - note.position.x - note.width / 2,
      y + NODE_HEIGHT / 2 - note.position.y - note.height / 2,
    );
  return definition.nodes.reduce<Definition["nodes"][number] | undefined>(
    (best, node) => (best === undefined || away(node.position) < away(best.position) ? node : best),
    undefined,
  );
}

function withNotes(definition: Definition, change: (note: Note) => Note): Definition {
  const before = notesOf(definition);
  const notes = before.map(change);
  return notes.every((note, index) => note === before[index]) ? definition : { ...definition, notes };
}
