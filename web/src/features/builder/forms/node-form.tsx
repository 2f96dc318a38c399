/** The form of the chosen step, made from what its kind declares. */

import { Accordion, Alert, Badge, Group, Stack, Text } from "@mantine/core";
import type { GraphNode } from "../../../graph/definition";
import { setNodeData } from "../../../graph/editing/edit";
import { issuesBeside, issueAt } from "../../../graph/validation-issues";
import { type PropertySpec, isShown, sectionsOf, valueOf } from "../../../graph/specs";
import { useEditorContext } from "../state/editor";
import { Field } from "./fields";
import classes from "./form.module.css";
import { ItemActions } from "./item-actions";
import { KindIcon } from "../canvas/kinds";
import { TriggerAddress } from "./trigger-address";
import { OutgoingEdges } from "./outgoing-edges";

export function NodeForm({ node }: { node: GraphNode }) {
  const { specs, validationIssues } = useEditorContext();
  const spec = specs.get(node.type);
  const found = validationIssues.byNode.get(node.id) ?? [];
  const shown = spec?.properties.filter((property) => isShown(property, spec, node.data)) ?? [];
  const others = issuesBeside(
    found,
    shown.map((property) => property.name),
  );
  return (
    <Stack gap="md" className={classes.form} key={node.id}>
      <Group gap={10} wrap="nowrap">
        <KindIcon kind={node.type} icon={spec?.icon} size={17} />
        <div>
          <Text fw={600} lh={1.2}>
            {spec?.display_name ?? node.type}
          </Text>
          <Text fz="xs" c="dimmed" lh={1.35}>
            {spec?.description ?? "Unknown step type. It is kept unchanged."}
          </Text>
        </div>
      </Group>
      {others.map((issue, index) => (
        <Alert key={index} role="note" color={issue.isError ? "red" : "yellow"} variant="light" p="xs">
          {issue.message}
        </Alert>
      ))}
      {spec !== undefined && <Sections node={node} shown={shown} />}
      <TriggerAddress node={node} />
      <OutgoingEdges node={node} />
      <ItemActions id={node.id} />
    </Stack>
  );
}

interface SectionsProps {
  node: GraphNode;
  shown: PropertySpec[];
}

function Sections({ node, shown }: SectionsProps) {
  const { validationIssues } = useEditorContext();
  const found = validationIssues.byNode.get(node.id) ?? [];
  const sections = sectionsOf({ properties: shown });
  const first = sections.find((section) => section.title === "");
  const more = sections.filter((section) => section !== first);
  const count = (properties: PropertySpec[]) => properties.filter((property) => isSet(property, node)).length;
  const broken = more.filter((section) =>
    section.properties.some((property) => found.some((issue) => issue.field?.startsWith(`data.${property.name}`))),
  );
  return (
    <>
      {first?.properties.map((property) => (
        <NodeField key={property.name} node={node} property={property} />
      ))}
      {more.length > 0 && (
        <Accordion
          multiple
          defaultValue={broken.map((section) => slug(section.title))}
          variant="default"
          classNames={{
            item: classes.section ?? "",
            control: classes.control ?? "",
            content: classes.content ?? "",
            label: classes.label ?? "",
          }}
        >
          {more.map((section) => (
            <Accordion.Item key={section.title} value={slug(section.title)}>
              <Accordion.Control>
                {section.title}
                {count(section.properties) > 0 && (
                  <Badge size="xs" variant="light" color="gray" ml={8} circle>
                    {count(section.properties)}
                  </Badge>
                )}
              </Accordion.Control>
              <Accordion.Panel>
                <Stack gap="md">
                  {section.properties.map((property) => (
                    <NodeField key={property.name} node={node} property={property} />
                  ))}
                </Stack>
              </Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      )}
    </>
  );
}

/** Ids are made of it: no spaces. */
function slug(title: string): string {
  return title.toLowerCase().replaceAll(" ", "-");
}

/** Whether the author has set it to something of their own. */
function isSet(property: PropertySpec, node: GraphNode): boolean {
  const value = node.data[property.name];
  if (value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0))
    return false;
  return value !== (property.default ?? undefined);
}

function NodeField({ node, property }: { node: GraphNode; property: PropertySpec }) {
  const { canEdit, change, validationIssues } = useEditorContext();
  const found = validationIssues.byNode.get(node.id) ?? [];
  return (
    <Field
      property={property}
      value={valueOf(property, node.data)}
      error={issueAt(found, property.name)}
      isOff={!canEdit}
      errorAt={(path) => issueAt(found, path)}
      onChange={(value) =>
        change(
          (doc) => ({ ...doc, definition: setNodeData(doc.definition, node.id, { [property.name]: value }) }),
          `step ${node.id} ${property.name}`,
        )
      }
    />
  );
}
