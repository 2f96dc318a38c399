/** Where a step leads to, and joining it to another one without a mouse. */

import { Select, Stack, Text, UnstyledButton } from "@mantine/core";
import { ArrowRight, CircleAlert } from "lucide-react";
import { type GraphNode, digitsOf, nodeName, edgeLabel } from "../../../graph/definition";
import { canConnect, mayLeave } from "../../../graph/specs";
import { useEditorContext } from "../state/editor";
import classes from "./form.module.css";
import { useCanvasActions } from "../state/use-canvas-actions";

export function OutgoingEdges({ node }: { node: GraphNode }) {
  const { document, specs, canEdit, validationIssues, reveal, openForm } = useEditorContext();
  const actions = useCanvasActions();
  const { definition } = document;
  if (!mayLeave(specs.get(node.type)) || specs.get(node.type)?.category !== "call_node") return null;
  const edges = definition.edges.filter((edge) => edge.source === node.id);
  const nameOf = (id: string) => {
    const other = definition.nodes.find((node) => node.id === id);
    return other === undefined ? "nowhere" : nodeName(other);
  };
  const goals = definition.nodes
    .filter((target) => canConnect(specs, definition, node.id, target.id))
    .map((target) => ({ value: target.id, label: nodeName(target) }));
  return (
    <div>
      <Text fz="sm" fw={600} mb={6}>
        Transitions
      </Text>
      <Stack gap={4}>
        {edges.map((edge) => (
          <UnstyledButton
            key={edge.id}
            className={classes.edgeOut}
            onClick={() => reveal({ nodeIds: [], edgeIds: [edge.id] }, "form")}
          >
            <ArrowRight size={14} />
            <span>
              {digitsOf(edge) !== "" && <kbd>{digitsOf(edge)}</kbd>}
              {edgeLabel(edge) || "no label"} → <b>{nameOf(edge.target)}</b>
            </span>
            {(validationIssues.byEdge.get(edge.id) ?? []).some((issue) => issue.isError) && (
              <CircleAlert size={14} className={classes.error} aria-label="has errors" />
            )}
          </UnstyledButton>
        ))}
        {edges.length === 0 && (
          <Text fz="xs" c="dimmed">
            None yet. The conversation stays in this step.
          </Text>
        )}
        {canEdit && (
          <Select
            size="xs"
            aria-label="Connect to another step"
            placeholder="Connect to another step…"
            data={goals}
            value={null}
            searchable
            onChange={(id) => {
              if (id === null) return;
              actions.connect(node.id, id);
              openForm(true);
            }}
          />
        )}
      </Stack>
    </div>
  );
}
