/** Reads a stored definition, which may be any unfinished draft, into nodes and edges that can be shown. */

export interface GraphNode {
  id: string;
  kind: string;
  name: string;
  /** What the agent does or says here, in the author's words. */
  summary: string;
}

export interface GraphEdge {
  id: string;
  source: string;
  target: string;
  label: string;
  condition: string;
}

const KINDS: Record<string, string> = {
  startCall: "Start",
  agentNode: "Conversation",
  endCall: "End",
  globalNode: "Global instructions",
  trigger: "Trigger",
  webhook: "Webhook",
  qa: "Quality check",
};

export function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}

export function nodesOf(definition: unknown): GraphNode[] {
  return list(definition, "nodes").map((node) => {
    const data = object(node["data"]);
    const kind = string(node["type"]);
    return {
      id: string(node["id"]),
      kind,
      name: string(data["name"]) || kindName(kind),
      summary: string(data["greeting"]) || string(data["say"]) || string(data["prompt"]),
    };
  });
}

export function edgesOf(definition: unknown): GraphEdge[] {
  return list(definition, "edges").map((edge) => {
    const data = object(edge["data"]);
    return {
      id: string(edge["id"]),
      source: string(edge["source"]),
      target: string(edge["target"]),
      label: string(data["label"]),
      condition: string(data["condition"]),
    };
  });
}

function list(value: unknown, key: string): Record<string, unknown>[] {
  const items = object(value)[key];
  return Array.isArray(items) ? items.map(object) : [];
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}
