import { expect, it } from "vitest";
import { parse } from "../../graph/definition";
import { starterDefinition } from "./starter";

it("greets, listens and has one way to its end", () => {
  const { nodes, edges } = parse(starterDefinition("Front desk"));
  expect(nodes.map((node) => node.type)).toEqual(["startCall", "endCall"]);
  expect(edges).toMatchObject([{ source: "start", target: "end", data: { label: "Done" } }]);
});
