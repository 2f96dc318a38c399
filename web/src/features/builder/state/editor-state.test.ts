import { describe, expect, it } from "vitest";
import { parse } from "../../../graph/definition";
import { remove, setNodeData } from "../../../graph/editing/edit";
import type { Document } from "../api";
import { type EditorAction, type EditorState, opened, reduce } from "./editor-state";

const GRAPH = parse({ nodes: [{ id: "a" }, { id: "b" }], edges: [{ id: "w", source: "a", target: "b" }] });
const DOCUMENT: Document = { definition: GRAPH, configurations: {}, variables: {} };
const BOTH = { nodeIds: ["a", "b"], edgeIds: ["w"] };
const prompted = (words: string) => (doc: Document) => ({
  ...doc,
  definition: setNodeData(doc.definition, "a", { prompt: words }),
});
const without = (id: string) => (doc: Document) => ({ ...doc, definition: remove(doc.definition, [id], []) });
const changed = (next: (doc: Document) => Document, tag = "", at = 0): EditorAction => ({
  type: "changed",
  next,
  tag,
  at,
});
const after = (...actions: EditorAction[]): EditorState => actions.reduce(reduce, opened(DOCUMENT));
const promptOf = (state: EditorState) => state.history.present.definition.nodes[0]?.data["prompt"];

describe("what is open in the editor", () => {
  it("is stored until something changes, and nothing changes by a change that changes nothing", () => {
    expect(after().isStored).toBe(true);
    expect(after(changed((doc) => doc)).isStored).toBe(true);
    expect(after({ type: "undone" }, { type: "redone" }).isStored).toBe(true);
    const state = after(changed(prompted("Ask.")));
    expect([state.isStored, promptOf(state)]).toEqual([false, "Ask."]);
    expect(promptOf(reduce(state, { type: "undone" }))).toBeUndefined();
    expect(
      promptOf([{ type: "undone" } as const, { type: "redone" } as const].reduce<EditorState>(reduce, state)),
    ).toBe("Ask.");
  });

  it("has chosen only what is there", () => {
    const state = after({ type: "selected", selection: BOTH }, changed(without("b")));
    expect(state.selection).toEqual({ nodeIds: ["a"], edgeIds: [] });
    const same = reduce(state, { type: "selected", selection: { nodeIds: ["a"], edgeIds: [] } });
    expect(same).toBe(state);
    expect(reduce(state, changed(prompted("x"))).selection).toBe(state.selection);
  });

  it("shows what was asked for, and where the keyboard goes on", () => {
    const node = after({ type: "revealed", selection: BOTH, goesTo: "node" });
    expect([node.revealed, node.form]).toEqual([{ ids: ["a", "b", "w"], isFocused: true }, null]);
    const form = after({ type: "revealed", selection: BOTH, goesTo: "form" });
    expect([form.revealed?.isFocused, form.form]).toEqual([false, { isFocused: true }]);
    const shown = reduce(form, { type: "revealed", selection: BOTH, goesTo: null });
    expect([shown.form === form.form, shown.revealed === form.revealed]).toEqual([true, false]);
    expect(after({ type: "asked", isFocused: false }).form).toEqual({ isFocused: false });
  });

  it("brings back by undo what was given up for somebody else's version", () => {
    const theirs = prompted("Theirs.")(DOCUMENT);
    const state = after({ type: "selected", selection: BOTH }, changed(prompted("Mine.")), {
      type: "replaced",
      document: theirs,
      isUndoable: true,
    });
    expect([promptOf(state), state.isStored, state.selection]).toEqual(["Theirs.", true, BOTH]);
    const back = reduce(state, { type: "undone" });
    expect([promptOf(back), back.isStored]).toEqual(["Mine.", false]);
    expect(promptOf(reduce(back, { type: "undone" }))).toBe("Mine.");
  });

  it("does not take back by undo what somebody else did while nothing waited here", () => {
    const state = after(changed(prompted("Mine.")), {
      type: "replaced",
      document: prompted("Theirs.")(DOCUMENT),
      isUndoable: false,
    });
    expect(promptOf(reduce(state, { type: "undone" }))).toBe("Theirs.");
  });

  it("brings back by undo what was written over", () => {
    const state = after(changed(prompted("Mine."), "prompt", 1), {
      type: "overwrote",
      document: prompted("Theirs.")(DOCUMENT),
    });
    expect([promptOf(state), promptOf(reduce(state, { type: "undone" }))]).toEqual(["Mine.", "Theirs."]);
    const typed = reduce(state, changed(prompted("Mine!"), "prompt", 2));
    expect(promptOf(reduce(typed, { type: "undone" }))).toBe("Mine.");
  });

  it("takes what the server made into every moment of the history", () => {
    const state = after(changed(prompted("Ask.")), {
      type: "minted",
      apply: (doc) => ({ ...doc, variables: { made: 1 } }),
    });
    expect(reduce(state, { type: "undone" }).history.present.variables).toEqual({ made: 1 });
  });
});
