/** Why a draft was not saved, in the author's words: the step's name and the field's label instead of a path. */

import { type Definition, nodeName } from "../../../graph/definition";
import { locationOf } from "../../../graph/validation-issues";
import type { NodeSpec } from "../../../graph/specs";
import { ApiError, ConnectionError, messageOf, problemsOf } from "../../../lib/api/errors";
import { type FieldProblem, fieldMessage, fieldMessageWithLabel, labelOf } from "../../../lib/api/field-messages";
import { MODEL_LABELS, NO_MESSAGE } from "../settings/setting-errors";
import { SETTINGS } from "../settings/settings-spec";

type Specs = ReadonlyMap<string, NodeSpec>;

/** The server is away or fails: the same request may work a moment later. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof ConnectionError || (error instanceof ApiError && (error.status >= 500 || error.status === 429))
  );
}

export function savingProblem(error: unknown, definition: Definition, specs: Specs): string {
  const problems = problemsOf(error, MODEL_LABELS);
  if (isPassing(error)) return `${messageOf(error)} Retrying every few seconds.`;
  if (problems.length === 0) return messageOf(error);
  return problems.map((problem) => said(problem, definition, specs)).join(" ");
}

function said(problem: FieldProblem, definition: Definition, specs: Specs): string {
  const { path } = problem;
  const inside = /^(?:workflow_)?definition\.(nodes|edges)\.(\d+)(?:\.data)?\.?(.*)$/.exec(path);
  if (inside !== null) {
    const [, list, index, rest = ""] = inside;
    return list === "nodes"
      ? nodeProblem(Number(index), rest, problem, definition, specs)
      : edgeProblem(Number(index), rest, problem, definition);
  }
  const setting = /^workflow_configurations\.(.+)$/.exec(path)?.[1] ?? /^models\..+$/.exec(path)?.[0];
  if (setting !== undefined) return `Settings, ${ofSetting(setting, problem)}`;
  if (path.startsWith("template_context_variables"))
    return `Settings, variables: ${fieldMessage(labelOf(path), problem)}`;
  return /^(workflow_)?definition$/.test(path)
    ? fieldMessage("The agent", problem)
    : fieldMessageWithLabel(labelOf(path), problem);
}

function nodeProblem(index: number, rest: string, problem: FieldProblem, definition: Definition, specs: Specs): string {
  const node = definition.nodes[index];
  const name = node === undefined ? `Step ${index + 1}` : `“${nodeName(node)}”`;
  const property = specs
    .get(node?.type ?? "")
    ?.properties.find((one) => rest === one.name || rest.startsWith(`${one.name}.`));
  return `${name}, ${fieldMessageWithLabel(property?.display_name ?? labelOf(rest), problem)}`;
}

function edgeProblem(index: number, rest: string, problem: FieldProblem, definition: Definition): string {
  const edge = definition.edges[index];
  const place =
    edge === undefined
      ? ""
      : locationOf({ kind: "edge", id: edge.id, field: null, code: "", message: "", isError: true }, definition);
  return `${place === "" ? `Transition ${index + 1}` : `“${place}”`}, ${fieldMessageWithLabel(labelOf(rest), problem)}`;
}

const KINDS: Record<string, string> = {
  llm: "language model",
  tts: "voice",
  stt: "speech recognition",
  realtime: "speech-to-speech model",
};

function ofSetting(path: string, problem: FieldProblem): string {
  const kind = /^models\.(llm|tts|stt|realtime)\./.exec(path)?.[1];
  if (kind !== undefined)
    return `${KINDS[kind] ?? kind}: ${fieldMessageWithLabel(labelOf(path, MODEL_LABELS), problem)}`;
  if (path === "voicemail_detection") return `Voicemail: ${NO_MESSAGE}`;
  const known = SETTINGS.flatMap((group) => group.properties).find(
    ({ name }) => path === name || path.startsWith(`${name}.`),
  );
  return fieldMessageWithLabel(known?.display_name ?? labelOf(path), problem);
}
