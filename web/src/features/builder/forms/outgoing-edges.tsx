/** Where a step leads to, and joining it to another one without a mouse. */

import { Select, Stack, Text, UnstyledButton } from "@mantine/core";
import { ArrowRight, CircleAlert } from "lucide-react";
import { type Step, digitsOf, stepName, wayLabel } from "../../../graph/definition";
import { canConnect, mayLeave } from "../../../graph/specs";
import { useEditorContext } from "../state/editor";
import classes from "./form.module.css";
import { useCanvasActions } from "../state/use-canvas-actions";

export function WaysOut({ step }: { step: Step }) {
  const { document, specs, canEdit, findings, reveal, openForm } = useEditorContext();
  const actions = useCanvasActions();
  const { definition } = document;
  if (!mayLeave(specs.get(step.type)) || specs.get(step.type)?.category !== "call_node") return null;
  const ways = definition.edges.filter((edge) => edge.source === step.id);
  const nameOf = (id: string) => {
    const other = definition.nodes.find((node) => node.id === id);
    return other === undefined ? "nowhere" : stepName(other);
  };
  const goals = definition.nodes
    .filter((node) => canConnect(specs, definition, step.id, node.id))
    .map((node) => ({ value: node.id, label: stepName(node) }));
  return (
    <div>
      <Text fz="sm" fw={500} mb={6}>
        Leads to
      </Text>
      <Stack gap={4}>
        {ways.map((way) => (
          <UnstyledButton
            key={way.id}
            className={classes.wayOut}
            onClick={() => reveal({ stepIds: [], wayIds: [way.id] }, "form")}
          >
            <ArrowRight size={14} />
            <span>
              {digitsOf(way) !== "" && <kbd>{digitsOf(way)}</kbd>}
              {wayLabel(way) || "no label"} → <b>{nameOf(way.target)}</b>
            </span>
            {(findings.byWay.get(way.id) ?? []).some((finding) => finding.isError) && (
              <CircleAlert size={14} className={classes.error} aria-label="has errors" />
            )}
          </UnstyledButton>
        ))}
        {ways.length === 0 && (
          <Text fz="xs" c="dimmed">
            Nowhere yet: the conversation stays here.
          </Text>
        )}
        {canEdit && (
          <Select
            size="xs"
            aria-label="Lead to another step"
            placeholder="Lead to another step …"
            data={goals}
            value={null}
            searchable
            onChange={(id) => {
              if (id === null) return;
              actions.connect(step.id, id);
              openForm(true);
            }}
          />
        )}
      </Stack>
    </div>
  );
}
