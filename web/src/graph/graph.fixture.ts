/** The graph and the kinds of steps that the tests of this folder use. */

import { type Definition, parse } from "./definition";
import type { NodeSpec } from "./specs";

export const property = (name: string, more: object = {}) =>
  ({
    name,
    type: "string",
    display_name: name,
    description: name,
    required: false,
    ...more,
  }) as NodeSpec["properties"][number];
export const kind = (
  name: string,
  constraints: NodeSpec["graph_constraints"],
  properties = [property("name")],
  max_instances: number | null = null,
): NodeSpec => ({
  name,
  display_name: name,
  description: name,
  category: "call_node",
  icon: "Box",
  version: "1",
  properties,
  graph_constraints: constraints,
  max_instances,
});
export const SPECS = new Map(
  [
    kind("startCall", { max_incoming: 0 }, [property("name")], 1),
    kind("agentNode", { min_incoming: 1 }, [
      property("name"),
      property("say_type", { default: "text" }),
      property("say", { display_options: { show: { say_type: ["text"] } } }),
    ]),
    kind("endCall", { min_incoming: 1, max_outgoing: 0 }),
    kind("trigger", {}, [property("name")], 1),
  ].map((spec) => [spec.name, spec]),
);
export const node = (id: string, type = "agentNode", data: object = {}) => ({
  id,
  type,
  position: { x: 0, y: 0 },
  data: { name: id, ...data },
});
export const edge = (source: string, target: string, label = "go") => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { label, condition: "Always." },
});
export const GRAPH: Definition = parse({
  nodes: [node("s", "startCall"), node("a"), node("b"), node("e", "endCall")],
  edges: [edge("s", "a"), edge("s", "b", "other"), edge("a", "e"), edge("b", "e"), edge("b", "s", "again")],
  demo_caller: ["Hello"],
});
