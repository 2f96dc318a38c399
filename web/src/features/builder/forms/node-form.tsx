/** The form of the chosen step, made from what its kind declares. */

import { Accordion, Alert, Badge, Button, Group, Stack, Text } from "@mantine/core";
import { Copy, Trash2 } from "lucide-react";
import type { Step } from "../../../graph/definition";
import { setStepData } from "../../../graph/editing/edit";
import { besides, problemAt } from "../../../graph/problems";
import { type PropertySpec, isShown, sectionsOf, valueOf } from "../../../graph/specs";
import { useEditorContext } from "../state/editor";
import { Field } from "./fields";
import classes from "./form.module.css";
import { KindIcon } from "../canvas/kinds";
import { TriggerAddress } from "./trigger-address";
import { useCanvasActions } from "../state/use-canvas-actions";
import { WaysOut } from "./outgoing-edges";

export function StepForm({ step }: { step: Step }) {
  const { specs, canEdit, findings } = useEditorContext();
  const actions = useCanvasActions();
  const spec = specs.get(step.type);
  const found = findings.byStep.get(step.id) ?? [];
  const shown = spec?.properties.filter((property) => isShown(property, spec, step.data)) ?? [];
  const others = besides(
    found,
    shown.map((property) => property.name),
  );
  return (
    <Stack gap="md" className={classes.form} key={step.id}>
      <Group gap={10} wrap="nowrap">
        <KindIcon kind={step.type} icon={spec?.icon} size={17} />
        <div>
          <Text fw={650} lh={1.2}>
            {spec?.display_name ?? step.type}
          </Text>
          <Text fz="xs" c="dimmed" lh={1.35}>
            {spec?.description ?? "This kind of step is not known here: it is kept as it is."}
          </Text>
        </div>
      </Group>
      {others.map((finding, index) => (
        <Alert key={index} role="note" color={finding.isError ? "red" : "yellow"} variant="light" p="xs">
          {finding.message}
        </Alert>
      ))}
      {spec !== undefined && <Sections step={step} shown={shown} />}
      <TriggerAddress step={step} />
      <WaysOut step={step} />
      {canEdit && (
        <Group gap={8} mt="xs">
          <Button
            size="xs"
            variant="default"
            leftSection={<Copy size={14} />}
            onClick={() => actions.paste(actions.copy())}
          >
            Duplicate
          </Button>
          <Button
            size="xs"
            variant="light"
            color="red"
            leftSection={<Trash2 size={14} />}
            onClick={() => actions.remove([step.id], [])}
          >
            Remove
          </Button>
        </Group>
      )}
    </Stack>
  );
}

interface SectionsProps {
  step: Step;
  shown: PropertySpec[];
}

function Sections({ step, shown }: SectionsProps) {
  const { findings } = useEditorContext();
  const found = findings.byStep.get(step.id) ?? [];
  const sections = sectionsOf({ properties: shown });
  const first = sections.find((section) => section.title === "");
  const more = sections.filter((section) => section !== first);
  const count = (properties: PropertySpec[]) => properties.filter((property) => isSet(property, step)).length;
  const broken = more.filter((section) =>
    section.properties.some((property) => found.some((finding) => finding.field?.startsWith(`data.${property.name}`))),
  );
  return (
    <>
      {first?.properties.map((property) => (
        <StepField key={property.name} step={step} property={property} />
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
                    <StepField key={property.name} step={step} property={property} />
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
function isSet(property: PropertySpec, step: Step): boolean {
  const value = step.data[property.name];
  if (value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0))
    return false;
  return value !== (property.default ?? undefined);
}

function StepField({ step, property }: { step: Step; property: PropertySpec }) {
  const { canEdit, change, findings } = useEditorContext();
  const found = findings.byStep.get(step.id) ?? [];
  return (
    <Field
      property={property}
      value={valueOf(property, step.data)}
      error={problemAt(found, property.name)}
      isOff={!canEdit}
      errorAt={(path) => problemAt(found, path)}
      onChange={(value) =>
        change(
          (doc) => ({ ...doc, definition: setStepData(doc.definition, step.id, { [property.name]: value }) }),
          `step ${step.id} ${property.name}`,
        )
      }
    />
  );
}
