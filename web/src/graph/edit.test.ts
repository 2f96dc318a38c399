import { describe, expect, it } from "vitest";
import { clipOf, copied, paste } from "./clipboard";
import { type Definition, isEqual, parse } from "./definition";
import { diff } from "./diff";
import { addStep, connect, moveSteps, remove, setStepData, withMinted } from "./edit";
import { arranged } from "./layout";
import { STEP_HEIGHT, STEP_WIDTH, areInside, freePlace } from "./places";
import { search } from "./search";
import { type NodeSpec, canAdd, canConnect, isShown, newStep, sectionsOf } from "./specs";
import { knownVariables } from "./variables";

const property = (name: string, more: object = {}) =>
  ({
    name,
    type: "string",
    display_name: name,
    description: name,
    required: false,
    ...more,
  }) as NodeSpec["properties"][number];
const kind = (name: string, constraints: NodeSpec["graph_constraints"], properties = [property("name")]): NodeSpec =>
  ({
    name,
    display_name: name,
    description: name,
    category: "call_node",
    icon: "Box",
    version: "1",
    properties,
    graph_constraints: constraints,
  }) as NodeSpec;
const SPECS = new Map(
  [
    kind("startCall", { min_instances: 1, max_instances: 1, max_incoming: 0 }),
    kind("agentNode", { min_incoming: 1 }, [
      property("name"),
      property("say_type", { default: "text" }),
      property("say", { display_options: { show: { say_type: ["text"] } } }),
    ]),
    kind("endCall", { min_incoming: 1, max_outgoing: 0 }),
    kind("trigger", { max_instances: 1 }),
  ].map((spec) => [spec.name, spec]),
);
const step = (id: string, type = "agentNode", data: object = {}) => ({
  id,
  type,
  position: { x: 0, y: 0 },
  data: { name: id, ...data },
});
const way = (source: string, target: string, label = "go") => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { label, condition: "Always." },
});
const GRAPH: Definition = parse({
  nodes: [step("s", "startCall"), step("a"), step("b"), step("e", "endCall")],
  edges: [way("s", "a"), way("s", "b", "other"), way("a", "e"), way("b", "e"), way("b", "s", "again")],
  demo_caller: ["Hello"],
});

describe("a stored definition", () => {
  it("is read whatever it lacks, and keeps what is not known here", () => {
    expect(parse(null)).toEqual({ nodes: [], edges: [] });
    const odd = parse({
      nodes: [{ id: "x", type: "agentNode", width: 7 }, null, { id: "x" }, {}],
      edges: "no",
      extra: 1,
    });
    expect(odd.nodes.map((node) => node.id)).toEqual(["x", "x-2", "step"]);
    expect(odd.nodes[0]).toMatchObject({ width: 7, position: { x: 0, y: 0 }, data: {} });
    expect(odd["extra"]).toBe(1);
    expect(GRAPH["demo_caller"]).toEqual(["Hello"]);
  });

  it("is the same whatever the order of its keys", () => {
    expect(isEqual({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).toBe(true);
    expect(isEqual({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
  });
});

describe("a change", () => {
  it("leaves what it does not touch as it is", () => {
    const next = setStepData(GRAPH, "a", { prompt: "Ask.", name: undefined });
    expect(next.nodes[1]?.data).toEqual({ prompt: "Ask." });
    expect(next.nodes[0]).toBe(GRAPH.nodes[0]);
    expect(moveSteps(GRAPH, new Map([["a", { x: 0, y: 0 }]]))).toBe(GRAPH);
  });

  it("takes the ways along when a step goes", () => {
    const next = remove(GRAPH, ["b"], ["s-a"]);
    expect(next.edges.map((edge) => edge.id)).toEqual(["a-e"]);
  });

  it("joins steps by ways that can be told apart", () => {
    const once = connect(GRAPH, "a", "b");
    const twice = connect(once.definition, "a", "b");
    expect([once.way.data["label"], twice.way.data["label"]]).toEqual(["b", "b-2"]);
    expect(new Set(twice.definition.edges.map((edge) => edge.id)).size).toBe(7);
  });

  it("takes over the address that the server made for a trigger, and nothing else", () => {
    const mine = addStep(GRAPH, step("t", "trigger"));
    const saved = setStepData(setStepData(mine, "t", { trigger_path: "abc" }), "a", { prompt: "theirs" });
    expect(withMinted(mine, saved).nodes.find((node) => node.id === "t")?.data["trigger_path"]).toBe("abc");
    expect(withMinted(mine, saved).nodes[1]).toBe(mine.nodes[1]);
    expect(withMinted(GRAPH, GRAPH)).toBe(GRAPH);
  });
});

describe("the kinds of steps", () => {
  it("say how many there may be and where ways may lead", () => {
    const start = SPECS.get("startCall") as NodeSpec;
    expect([canAdd(start, GRAPH), canAdd(start, parse({}))]).toEqual([false, true]);
    const pairs = [
      ["s", "a"],
      ["a", "s"],
      ["e", "a"],
      ["a", "a"],
      ["a", "e"],
    ] as const;
    expect(pairs.map(([source, target]) => canConnect(SPECS, GRAPH, source, target))).toEqual([
      true,
      false,
      false,
      false,
      true,
    ]);
  });

  it("give a new step its defaults and a name of its own", () => {
    const spec = SPECS.get("agentNode") as NodeSpec;
    const first = newStep(spec, GRAPH, { x: 1, y: 2 });
    const second = newStep(spec, addStep(GRAPH, first), { x: 1, y: 2 });
    expect(first.data).toEqual({ say_type: "text", name: "agentNode" });
    expect([second.id, second.data["name"]]).toEqual(["agentNode-2", "agentNode 2"]);
  });

  it("show a field when what it depends on has its value, the default counting as one", () => {
    const spec = SPECS.get("agentNode") as NodeSpec;
    const say = spec.properties[2] as NodeSpec["properties"][number];
    expect([isShown(say, spec, {}), isShown(say, spec, { say_type: "audio" })]).toEqual([true, false]);
    expect(sectionsOf(spec).map((section) => section.title)).toEqual(["", "Fixed sentences"]);
  });
});

describe("copying", () => {
  it("brings steps and the ways between them under new ids", () => {
    const clip = clipOf(copied(GRAPH, ["a", "e"]));
    expect(clip).not.toBeNull();
    const { definition, stepIds, leftOut } = paste(GRAPH, clip as Definition, { x: 500, y: 0 }, SPECS);
    expect([stepIds, leftOut]).toEqual([["a-2", "e-2"], 0]);
    expect(definition.edges.at(-1)).toMatchObject({ source: "a-2", target: "e-2", data: { label: "go" } });
  });

  it("leaves out what there may be only one of, and a trigger's address", () => {
    const clip = clipOf(copied(GRAPH, ["s", "a"])) as Definition;
    expect(paste(GRAPH, clip, { x: 0, y: 0 }, SPECS)).toMatchObject({ stepIds: ["a-2"], leftOut: 1 });
    const trigger = parse({ nodes: [step("t", "trigger", { trigger_path: "abc" })] });
    expect(paste(GRAPH, trigger, { x: 0, y: 0 }, SPECS).definition.nodes.at(-1)?.data).toEqual({ name: "t" });
  });

  it("does not take other text for steps", () => {
    expect([clipOf("hello"), clipOf('{"kind":"x"}'), copied(GRAPH, [])]).toEqual([null, null, ""]);
  });
});

describe("the arrangement", () => {
  const places = arranged(addStep(GRAPH, step("g", "globalNode")));
  const y = (id: string) => places.get(id)?.y ?? Number.NaN;

  it("reads from the start to the end, with circles", () => {
    expect(y("s")).toBeLessThan(y("a"));
    expect(y("a")).toBe(y("b"));
    expect(y("b")).toBeLessThan(y("e"));
  });

  it("never puts two steps on one place, and what is not joined aside", () => {
    const all = [...places.values()];
    for (const [index, one] of all.entries()) {
      for (const other of all.slice(index + 1)) {
        expect(Math.abs(one.x - other.x) >= STEP_WIDTH || Math.abs(one.y - other.y) >= STEP_HEIGHT).toBe(true);
      }
    }
    expect(places.get("g")?.x).toBeLessThan(0);
  });

  it("finds a free place beside what is there", () => {
    expect(freePlace(GRAPH, { x: 0, y: 0 }).x).toBeGreaterThanOrEqual(STEP_WIDTH);
    expect(freePlace(GRAPH, { x: 0, y: 900 })).toEqual({ x: 0, y: 900 });
  });

  it("knows whether all of some steps can be seen", () => {
    const view = { from: { x: 0, y: 0 }, until: { x: STEP_WIDTH, y: 400 } };
    const at = (x: number, y: number) => moveSteps(GRAPH, new Map([["a", { x, y }]])).nodes;
    expect([
      areInside(at(0, 300), view),
      areInside(at(1, 0), view),
      areInside(at(0, 310), view),
      areInside(at(0, -1), view),
    ]).toEqual([true, false, false, false]);
  });

  it("survives nothing at all, and ways to nowhere", () => {
    expect(arranged(parse({})).size).toBe(0);
    expect(arranged(parse({ nodes: [step("a")], edges: [way("a", "a"), way("a", "gone")] })).size).toBe(1);
  });
});

describe("the search", () => {
  it("finds names first, then texts, then ways", () => {
    const graph = setStepData(GRAPH, "b", { prompt: "Ask about Always and more" });
    expect(search(setStepData(graph, "e", { name: "always" }), "ALWAYS").map((hit) => [hit.kind, hit.id])).toEqual([
      ["step", "e"],
      ["step", "b"],
      ["way", "s-a"],
      ["way", "s-b"],
      ["way", "a-e"],
      ["way", "b-e"],
      ["way", "b-s"],
    ]);
    expect(search(GRAPH, " ")).toEqual([]);
  });
});

describe("two versions", () => {
  it("differ by steps, ways and settings, not by places", () => {
    const before = { definition: GRAPH, settings: { max_call_duration: 300 } };
    expect(
      diff(before, {
        definition: moveSteps(GRAPH, new Map([["a", { x: 9, y: 9 }]])),
        settings: { max_call_duration: 300 },
      }),
    ).toEqual([]);
    const changed = remove(setStepData(addStep(GRAPH, step("n")), "a", { prompt: "New." }), ["b"], []);
    expect(
      diff(before, { definition: changed, settings: {} }).map((item) => `${item.change} ${item.kind} ${item.id}`),
    ).toEqual([
      "changed step a",
      "added step n",
      "removed step b",
      "removed way s-b",
      "removed way b-e",
      "removed way b-s",
      "removed setting max_call_duration",
    ]);
    expect(diff(before, { definition: changed, settings: {} })[0]?.fields).toEqual([
      { field: "prompt", before: undefined, after: "New." },
    ]);
  });
});

it("knows the variables that a text can use", () => {
  const graph = setStepData(GRAPH, "a", {
    prompt: "Dear {{ first_name | there }}",
    extraction_enabled: true,
    extraction_variables: [{ name: "day" }],
  });
  expect(knownVariables(graph, { company: "X" }).slice(0, 3)).toEqual(["company", "day", "first_name"]);
});
