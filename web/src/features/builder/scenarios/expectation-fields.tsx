/** What must come of the conversation. */

import { MultiSelect, Select, Stack, TagsInput, Text } from "@mantine/core";
import { edgeTitles, nodeName, object } from "../../../graph/definition";
import { useEditorContext } from "../state/editor";
import type { ScenarioFieldsProps } from "./caller-fields";
import { JudgedExpectations } from "./model-fields";
import { issueAt, listAt, valueAt, withField } from "./scenario";
import classes from "./scenarios.module.css";
import { CostField, LimitField, SoundExpectations } from "./sound-fields";

const OTHER_FIELDS = ["edges", "edges_never", "nodes_never", "variables", "tools", "is_over", "outcome", "end_reason"];

export function ExpectationFields({ scenario, issues, onChange }: ScenarioFieldsProps) {
  const { steps, transitions } = useGraphChoices();
  const set = (field: string, value: unknown) => onChange(withField(scenario, "expect", field, value));
  const list = (field: string) => ({
    value: listAt(scenario, "expect", field),
    error: issueAt(issues, `expect.${field}`),
    onChange: (value: string[]) => set(field, value),
  });
  const end = valueAt(scenario, "expect", "end");
  const problem = issueAt(issues, "expect");
  const hasMore = OTHER_FIELDS.some((field) => field in object(scenario["expect"]));
  return (
    <Stack gap="sm" role="group" aria-label="Expectations" className={classes.section}>
      <Text component="h3" fz="md" fw={600}>
        Expectations
      </Text>
      {problem !== undefined && (
        <Text fz="sm" c="red" role="alert">
          {problem}
        </Text>
      )}
      <TagsInput
        label="The agent says"
        description="Words or phrases that must be said. Case is ignored. Press Enter after each one."
        splitChars={[]}
        acceptValueOnBlur
        maxLength={1000}
        classNames={{ pill: classes.pill ?? "" }}
        {...list("says")}
      />
      <TagsInput
        label="The agent never says"
        splitChars={[]}
        acceptValueOnBlur
        maxLength={1000}
        classNames={{ pill: classes.pill ?? "" }}
        {...list("never_says")}
      />
      <MultiSelect label="Steps in this order" data={steps} searchable hidePickedOptions {...list("nodes")} />
      <MultiSelect
        label="Transitions taken"
        data={transitions}
        searchable
        hidePickedOptions
        {...list("edges_include")}
      />
      <Select
        label="Ends at"
        placeholder="Any step"
        data={steps}
        searchable
        clearable
        value={typeof end === "string" ? end : null}
        error={issueAt(issues, "expect.end")}
        onChange={(value) => set("end", value)}
      />
      <LimitField {...{ scenario, issues, onChange }} field="max_turns" label="Max turns" min={1} max={100} />
      <CostField {...{ scenario, issues, onChange }} />
      <JudgedExpectations {...{ scenario, issues, onChange }} />
      <SoundExpectations {...{ scenario, issues, onChange }} />
      {hasMore && (
        <Text fz="sm" c="dimmed">
          This scenario has more expectations, such as tool calls or variables. Edit them as YAML.
        </Text>
      )}
    </Stack>
  );
}

/** The steps and transitions of the draft, as lists offer them. */
function useGraphChoices() {
  const { document } = useEditorContext();
  const { nodes, edges } = document.definition;
  const ids = edges.map(({ id }) => id);
  const titles = edgeTitles(document.definition, ids);
  return {
    steps: nodes.map((node) => ({ value: node.id, label: nodeName(node) })),
    transitions: ids.map((value, index) => ({ value, label: titles[index] ?? value })),
  };
}
