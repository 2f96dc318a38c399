import { describe, expect, it } from "vitest";
import { type Definition, parse } from "../definition";
import { diff } from "../diff";
import { GRAPH, SPECS, edge, node } from "../graph.fixture";
import { search } from "../search";
import { clipOf, paste, serializeNodes } from "./clipboard";
import { moveNodes, newNodeId, remove, setNodeData, splice } from "./edit";
import { MAX_NOTES, addNote, colorOf, followSteps, notesOf, placeNotes, setNote } from "./notes";

const first = addNote(GRAPH, { x: 10, y: 20 });
const NOTED = setNote(first.definition, first.note.id, { text: "Ask Ana before changing the price", color: "pink" });
const ID = first.note.id;

describe("reading", () => {
  it("keeps notes with whatever else they have, and gives them a place and a size", () => {
    const stored = { nodes: [], edges: [], notes: [{ id: "n", text: "Hi", author: "Ana" }, "lost", { width: 1e9 }] };
    expect(parse(stored).notes).toEqual([
      { id: "n", text: "Hi", author: "Ana", position: { x: 0, y: 0 }, width: 220, height: 120 },
      { id: "note", text: "", position: { x: 0, y: 0 }, width: 3000, height: 120 },
    ]);
  });

  it("never gives a note and a step the same id", () => {
    expect(parse({ nodes: [node("note")], notes: [{ id: "note" }] }).notes?.[0]?.id).toBe("note-2");
    expect(newNodeId(NOTED, ID)).toBe(`${ID}-2`);
  });

  it("leaves what is no list as it is, and a definition without notes without them", () => {
    expect(parse({ notes: "mine" })).toMatchObject({ notes: "mine" });
    expect(notesOf(parse({ notes: "mine" }))).toEqual([]);
    expect("notes" in GRAPH).toBe(false);
  });

  it("draws a color that it does not know as the first", () => {
    expect(notesOf(NOTED).map(colorOf)).toEqual(["pink"]);
    expect(notesOf(setNote(NOTED, ID, { color: "plaid" })).map(colorOf)).toEqual(["yellow"]);
  });
});

describe("changing", () => {
  it("moves and resizes, and keeps the object where nothing differs", () => {
    const place = { position: { x: 5, y: 6 }, width: 400, height: 90 };
    const placed = placeNotes(NOTED, new Map([[ID, place]]));
    expect(placed.notes?.[0]).toMatchObject(place);
    expect(placeNotes(placed, new Map([[ID, place]]))).toBe(placed);
    expect(placeNotes(NOTED, new Map([["a", place]]))).toBe(NOTED);
  });

  it("is removed with what is chosen, and touches no step", () => {
    const left = remove(NOTED, [ID], []);
    expect([left.notes, left.nodes, left.edges]).toEqual([[], GRAPH.nodes, GRAPH.edges]);
    expect(remove(NOTED, ["a"], []).notes).toBe(NOTED.notes);
  });

  it("survives every change of steps", () => {
    const changed = setNodeData(moveNodes(NOTED, new Map([["a", { x: 1, y: 1 }]])), "a", { prompt: "Ask" });
    expect(changed.notes).toBe(NOTED.notes);
  });

  it("goes where the nearest step goes", () => {
    const graph: Definition = {
      ...parse({ nodes: [node("s", "startCall"), { ...node("a"), position: { x: 0, y: 600 } }] }),
      notes: [{ id: "n", text: "", position: { x: 250, y: 600 }, width: 100, height: 60 }],
    };
    const places = new Map([
      ["s", { x: 9, y: 9 }],
      ["a", { x: 100, y: 900 }],
    ]);
    expect(followSteps(graph, places).notes?.[0]?.position).toEqual({ x: 350, y: 900 });
    const joined = { ...graph, edges: [edge("s", "a")] };
    const wide = splice(
      { ...joined, nodes: joined.nodes.map((one) => (one.id === "a" ? { ...one, position: { x: 0, y: 200 } } : one)) },
      "s-a",
      node("b"),
    );
    expect(wide.notes?.[0]?.position.y).toBeGreaterThan(600);
  });
});

describe("copying", () => {
  it("copies a note alone, and with steps where it lay beside them", () => {
    const alone = paste(GRAPH, clipOf(serializeNodes(NOTED, [ID])) as Definition, { x: 900, y: 900 }, SPECS);
    expect(alone.nodeIds).toEqual(["note"]);
    expect(alone.definition.notes?.[0]).toMatchObject({ text: "Ask Ana before changing the price", color: "pink" });
    const both = paste(NOTED, clipOf(serializeNodes(NOTED, ["a", ID])) as Definition, { x: 900, y: 900 }, SPECS);
    expect(both.nodeIds).toEqual(["a-2", "note-2"]);
    const step = both.definition.nodes.at(-1)?.position ?? { x: 0, y: 0 };
    expect(both.definition.notes?.at(-1)?.position).toEqual({ x: step.x + 10, y: step.y + 20 });
  });
});

it("is not copied where there are as many as there can be", () => {
  const [note] = notesOf(NOTED);
  const full = { ...GRAPH, notes: Array.from({ length: MAX_NOTES }, (_, at) => ({ ...note, id: `n${at}` })) };
  const pasted = paste(full as Definition, clipOf(serializeNodes(NOTED, [ID])) as Definition, { x: 0, y: 0 }, SPECS);
  expect([pasted.nodeIds, notesOf(pasted.definition).length]).toEqual([[], MAX_NOTES]);
});

it("is found by its words", () => {
  expect(search(NOTED, "price")).toEqual([
    { kind: "note", id: ID, title: "Note", excerpt: "Ask Ana before changing the price" },
  ]);
});

it("is no change for callers", () => {
  const settings = {};
  expect(diff({ definition: GRAPH, settings }, { definition: NOTED, settings })).toEqual([]);
});
