import { expect, it } from "vitest";
import { withPending } from "./messages";

const said = [{ role: "agent" as const, text: "Hello." }];

it("shows what was said, and the message that waits for its answer", () => {
  expect(withPending(said, null).map((line) => line.text)).toEqual(["Hello."]);
  const lines = withPending(said, "Hi");
  expect(lines.map((line) => [line.id, line.speaker, line.text])).toEqual([
    [0, "agent", "Hello."],
    [1, "caller", "Hi"],
  ]);
});
