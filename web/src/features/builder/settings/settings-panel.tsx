/** What belongs to the agent as a whole: its models, the rules of its calls, its variables. */

import { Accordion, Stack, Text } from "@mantine/core";
import type { PropertySpec } from "../../../graph/specs";
import { isShown } from "../../../graph/specs";
import { AgentActions } from "../header/agent-actions";
import { useEditorContext } from "../state/editor";
import { Field } from "../forms/fields";
import classes from "../forms/form.module.css";
import { LanguageSettings } from "../languages/language-settings";
import { ResultSettings } from "../results/result-settings";
import { GateSettings } from "../scenarios/gate-settings";
import { AgentRetention } from "./agent-retention";
import { ModelSettings } from "./model-settings";
import { ResourceSettings } from "./resource-settings";
import type { SettingsGroup } from "./setting-kinds";
import { SETTINGS } from "./settings-spec";
import { settingAt, withSetting } from "./setting-values";
import { settingError } from "./setting-errors";
import { VariableSettings } from "./variable-settings";

export function SettingsPanel() {
  const styles = {
    item: classes.section ?? "",
    control: classes.control ?? "",
    content: classes.content ?? "",
    label: classes.label ?? "",
  };
  return (
    <div className={classes.form}>
      <Text fz="sm" c="dimmed" mb="xs">
        Settings are part of the version. They take effect when you publish.
      </Text>
      <Accordion multiple defaultValue={["models-and-voice"]} classNames={styles}>
        <Section title="Models and voice">
          <ModelSettings />
        </Section>
        <Section title="Languages">
          <LanguageSettings />
        </Section>
        {SETTINGS.map((group) => (
          <Section key={group.title} title={group.title}>
            <Group group={group} />
          </Section>
        ))}
        <Section title="Results and success">
          <ResultSettings />
        </Section>
        <Section title="Tools and documents">
          <ResourceSettings />
        </Section>
        <Section title="Variables">
          <VariableSettings />
        </Section>
        <Section title="Before publishing">
          <GateSettings />
        </Section>
        <Section title="Retention">
          <AgentRetention />
        </Section>
        <Section title="This agent">
          <AgentActions />
        </Section>
      </Accordion>
    </div>
  );
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Accordion.Item value={title.toLowerCase().replaceAll(" ", "-")}>
      <Accordion.Control>{title}</Accordion.Control>
      <Accordion.Panel>
        <Stack gap="md">{children}</Stack>
      </Accordion.Panel>
    </Accordion.Item>
  );
}

function Group({ group }: { group: SettingsGroup }) {
  const { document } = useEditorContext();
  const flat = Object.fromEntries(
    group.properties.map((property) => [property.name, settingAt(document.configurations, property.name)]),
  );
  return group.properties
    .filter((property) => isShown(property, group, flat))
    .map((property) => <Setting key={property.name} property={property} />);
}

function Setting({ property }: { property: PropertySpec }) {
  const { document, canEdit, change, saving } = useEditorContext();
  const value = settingAt(document.configurations, property.name);
  return (
    <Field
      property={property}
      value={value ?? property.default ?? undefined}
      error={settingError(saving, property.name)}
      isOff={!canEdit}
      errorAt={() => undefined}
      onChange={(next) =>
        change(
          (doc) => ({ ...doc, configurations: withSetting(doc.configurations, property.name, next) }),
          `setting ${property.name}`,
        )
      }
    />
  );
}
