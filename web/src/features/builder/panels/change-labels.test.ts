import { expect, it } from "vitest";
import type { Change } from "../../../graph/diff";
import type { NodeSpec } from "../../../graph/specs";
import { changeLabels } from "./change-labels";

const spec = {
  name: "agentNode",
  display_name: "Agent Step",
  properties: [
    { name: "tool_uuids", display_name: "Tools" },
    { name: "say_type", display_name: "Kind of sentence", options: [{ value: "audio", label: "Recording" }] },
  ],
} as unknown as NodeSpec;
const names = new Map([
  ["ea81", "Look up order"],
  ["elevenlabs", "ElevenLabs"],
]);
const says = changeLabels(new Map([["agentNode", spec]]), names);
const change = (
  kind: Change["kind"],
  id: string,
  field: string,
  after: unknown,
): [Change, Change["fields"][number]] => {
  const only = { field, before: undefined, after };
  return [{ kind, id, title: id, change: "changed", fields: [only] }, only];
};
const said = (...of: ReturnType<typeof change>) => [
  says.title(of[0]),
  says.field(...of),
  says.value(...of, of[1].after),
];

it("calls fields, settings and what they stand for as their forms do", () => {
  expect(said(...change("node", "Ask", "tool_uuids", ["ea81"]))).toEqual(["Ask", "Tools", "Look up order"]);
  expect(said(...change("node", "Ask", "say_type", "audio"))).toEqual(["Ask", "Kind of sentence", "Recording"]);
  expect(said(...change("node", "Ask", "type", "agentNode"))).toEqual(["Ask", "Type", "Agent Step"]);
  expect(said(...change("edge", "A → B", "digits", "1"))).toEqual(["A → B", "Keys", "1"]);
  expect(said(...change("setting", "max_call_duration", "value", 60))[0]).toBe("Maximum call duration");
  expect(said(...change("setting", "voicemail_detection", "action", "hang_up"))).toEqual([
    "Voicemail",
    "Action",
    "Hang up",
  ]);
});

it("names vendors, and settings that have no form, in words", () => {
  expect(said(...change("setting", "models", "tts", { provider: "elevenlabs", voice_id: "Rachel" }))).toEqual([
    "Models and voice",
    "Voice",
    "vendor: ElevenLabs, voice: Rachel",
  ]);
  expect(said(...change("setting", "vad_configuration", "stop_seconds", 0.1))).toEqual([
    "Voice detection",
    "Silence that ends speech",
    "0.1 s",
  ]);
  expect(said(...change("setting", "call_analysis", "write_summary", true))).toEqual([
    "Results and success",
    "Write a summary of each call",
    "Yes",
  ]);
  expect(said(...change("setting", "max_call_duration", "value", 60))[2]).toBe("60 s");
});
