import { describe, expect, it } from "vitest";
import { addNode, connect, moveNodes, remove, setNodeData, splice, withMinted } from "./edit";
import type { Data } from "../definition";
import { edge, node, GRAPH } from "../graph.fixture";
import { NODE_HEIGHT } from "../places";

describe("a change", () => {
  it("leaves what it does not touch as it is", () => {
    const next = setNodeData(GRAPH, "a", { prompt: "Ask.", name: undefined });
    expect(next.nodes[1]?.data).toEqual({ prompt: "Ask." });
    expect(next.nodes[0]).toBe(GRAPH.nodes[0]);
    expect(moveNodes(GRAPH, new Map([["a", { x: 0, y: 0 }]]))).toBe(GRAPH);
  });

  it("takes the edges along when a step goes", () => {
    const next = remove(GRAPH, ["b"], ["s-a"]);
    expect(next.edges.map((edge) => edge.id)).toEqual(["a-e"]);
  });

  it("leads on past a step that goes when it had one way in and one way out", () => {
    const chain = (first: Data, last: Data) => ({
      ...GRAPH,
      nodes: [node("s", "startCall"), node("a"), node("b"), node("e", "endCall")],
      edges: [
        { id: "1", source: "s", target: "a", data: first },
        { id: "2", source: "a", target: "b", data: last },
        { id: "3", source: "b", target: "e", data: { label: "e", condition: "" } },
      ],
    });
    const said = { label: "yes", condition: "Agrees.", examples: ["Sure."] };
    const other = { label: "no", condition: "Declines." };
    const blank = { label: "a", condition: "" };
    const past = (first: Data, last: Data) => remove(chain(first, last), ["a"], []).edges[0];
    expect(past(said, other)).toEqual({ id: "1", source: "s", target: "b", data: said });
    expect(past(blank, other)).toEqual({ id: "1", source: "s", target: "b", data: other });
    expect(past({}, other)?.data).toEqual(other);
    expect(past({ label: "then" }, other)?.data).toEqual({ label: "then" });
    expect(past(blank, { label: "b", condition: "" })?.data["label"]).toBe("b");
    // Several in a row, and with the edges that a box around them chooses.
    const whole = remove(chain(said, other), ["b", "a"], ["1", "2"]);
    expect(whole.edges).toEqual([{ id: "1", source: "s", target: "e", data: said }]);
    // What leads back to the step itself is no way in or out.
    const looped = chain(said, other);
    looped.edges.push({ id: "4", source: "a", target: "a", data: said });
    expect(remove(looped, ["a"], []).edges.map(({ id, target }) => [id, target])).toEqual([
      ["1", "b"],
      ["3", "e"],
    ]);
  });

  it("joins nothing past a step that was a crossroads, a loop, or an end", () => {
    expect(remove(GRAPH, ["e"], []).edges.map((edge) => edge.id)).toEqual(["s-a", "s-b", "b-s"]);
    const back = { ...GRAPH, edges: [edge("s", "a"), edge("a", "s")] };
    expect(remove(back, ["a"], []).edges).toEqual([]);
  });

  it("keeps labels apart where it leads on past a step", () => {
    const graph = { ...GRAPH, edges: [edge("s", "b", "go"), edge("s", "a", "a"), edge("a", "e", "go")] };
    graph.edges[1] = { ...edge("s", "a", "a"), data: { label: "a", condition: "" } };
    expect(remove(graph, ["a"], []).edges.map((one) => one.data["label"])).toEqual(["go", "go-2"]);
  });

  it("takes back what was put into an edge", () => {
    const joined = { ...GRAPH, edges: [edge("s", "a")] };
    const added = splice(joined, "s-a", node("n", "agentNode"));
    expect(remove(added, ["n"], []).edges).toEqual(joined.edges);
  });

  it("joins steps by edges that can be told apart", () => {
    const once = connect(GRAPH, "a", "b");
    const twice = connect(once.definition, "a", "b");
    expect([once.edge.data["label"], twice.edge.data["label"]]).toEqual(["b", "b-2"]);
    expect(new Set(twice.definition.edges.map((edge) => edge.id)).size).toBe(7);
  });

  it("puts a step into an edge and makes room for it", () => {
    const [start, end] = [node("s", "startCall"), { ...node("e", "endCall"), position: { x: 40, y: 120 } }];
    const joined = connect(addNode(addNode({ ...GRAPH, nodes: [], edges: [] }, start), end), "s", "e");
    const next = splice(joined.definition, joined.edge.id, node("n", "agentNode"));
    expect(next.edges.map((edge) => [edge.source, edge.target])).toEqual([
      ["s", "n"],
      ["n", "e"],
    ]);
    const [first, last, middle] = next.nodes.map(({ position }) => position.y);
    expect(middle).toBeGreaterThanOrEqual((first ?? 0) + NODE_HEIGHT);
    expect(last).toBeGreaterThanOrEqual((middle ?? 0) + NODE_HEIGHT);
    expect(next.nodes[0]).toBe(joined.definition.nodes[0]);
  });

  it("puts a step beside an edge that is gone", () => {
    const next = splice(GRAPH, "gone", node("n", "agentNode"));
    expect([next.nodes.length, next.edges]).toEqual([GRAPH.nodes.length + 1, GRAPH.edges]);
  });

  it("takes over the address that the server made for a trigger, and nothing else", () => {
    const mine = addNode(GRAPH, node("t", "trigger"));
    const saved = setNodeData(setNodeData(mine, "t", { trigger_path: "abc" }), "a", { prompt: "theirs" });
    expect(withMinted(mine, saved).nodes.find((node) => node.id === "t")?.data["trigger_path"]).toBe("abc");
    expect(withMinted(mine, saved).nodes[1]).toBe(mine.nodes[1]);
    expect(withMinted(GRAPH, GRAPH)).toBe(GRAPH);
  });
});
