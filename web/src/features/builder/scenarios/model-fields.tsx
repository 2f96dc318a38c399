/** What only models do in a scenario: one goes on as the caller, one judges what no other expectation can check. */

import { Stack, Switch, TagsInput, Text, Textarea, TextInput } from "@mantine/core";
import { type Data, object, text } from "../../../graph/definition";
import type { ScenarioFieldsProps } from "./caller-fields";
import { issueAt, listAt, valueAt, withField } from "./scenario";
import classes from "./scenarios.module.css";

const MODEL_HINT = "Vendor and model. Defaults to your organization’s language model.";

/** Who the caller is, for a model that decides what they say when turns and rules have nothing left. */
export function ModelCaller({ scenario, issues, onChange }: ScenarioFieldsProps) {
  const stored = valueAt(scenario, "caller", "model");
  const model = object(stored);
  const store = (next: Data | null) => onChange(withField(scenario, "caller", "model", next));
  const line = (name: string) => ({
    value: text(model[name]),
    error: issueAt(issues, `caller.model.${name}`),
    maxLength: 1000,
    onChange: (event: { currentTarget: { value: string } }) => store(withPart(model, name, event.currentTarget.value)),
  });
  return (
    <Stack gap="sm" role="group" aria-label="Caller, by a model">
      <Switch
        label="A model plays the caller"
        description="Continues after the turns above. Needs recorded answers or the agent’s own model."
        checked={stored !== undefined}
        onChange={(event) => store(event.currentTarget.checked ? { persona: "", goal: "" } : null)}
      />
      {stored !== undefined && (
        <Stack gap="sm" className={classes.nested}>
          <Textarea
            label="Who they are"
            autosize
            minRows={1}
            placeholder="Ada, 71, hard of hearing"
            {...line("persona")}
          />
          <Textarea
            label="What they want"
            autosize
            minRows={1}
            placeholder="Find out where order 48213 is"
            {...line("goal")}
          />
          <TextInput label="How they talk" placeholder="Short sentences, forgets the number first" {...line("style")} />
          <TextInput label="Model" description={MODEL_HINT} placeholder="openai/gpt-4.1-mini" {...line("name")} />
        </Stack>
      )}
    </Stack>
  );
}

/** Persona and goal stay while they are empty, so that the server names them. */
function withPart(model: Data, name: string, value: string): Data {
  const { [name]: _before, ...rest } = model;
  return value === "" && !["persona", "goal"].includes(name) ? rest : { ...rest, [name]: value };
}

/** Criteria in words. */
export function JudgedExpectations({ scenario, issues, onChange }: ScenarioFieldsProps) {
  const judged = listAt(scenario, "expect", "judged");
  const set = (field: string, value: unknown) => onChange(withField(scenario, "expect", field, value));
  return (
    <Stack gap="sm" role="group" aria-label="Expectations, judged by a model">
      <TagsInput
        label="Judged by a model"
        description="What must be true of the conversation, in plain words. Checked only when everything else passes. Press Enter after each one."
        placeholder={judged.length === 0 ? "The agent apologizes once and promises no date" : ""}
        splitChars={[]}
        acceptValueOnBlur
        maxLength={1000}
        classNames={{ pill: classes.pill ?? "" }}
        value={judged}
        error={issueAt(issues, "expect.judged")}
        onChange={(value) => set("judged", value)}
      />
      {judged.length > 0 && (
        <TextInput
          label="Judging model"
          description={MODEL_HINT}
          placeholder="openai/gpt-4.1"
          maxLength={100}
          value={text(valueAt(scenario, "expect", "judged_by"))}
          error={issueAt(issues, "expect.judged_by")}
          onChange={(event) => set("judged_by", event.currentTarget.value)}
        />
      )}
    </Stack>
  );
}

export interface Verdict {
  criterion: string;
  passed: boolean | null;
  quote: string;
  reason: string;
  provider: string | null;
  model: string | null;
  is_recorded: boolean;
}

/** What a model has judged, marked as such. */
export function ModelVerdicts({ verdicts }: { verdicts: readonly Verdict[] }) {
  if (verdicts.length === 0) return null;
  return (
    <section aria-label="Judged by a model">
      <Text fz="sm" fw={600}>
        Judged by a model
      </Text>
      <ul>
        {verdicts.map((verdict, index) => (
          <li key={index}>
            <Text fz="sm">
              <b>{verdict.passed === null ? "Not judged" : verdict.passed ? "Met" : "Not met"}</b>: {verdict.criterion}
            </Text>
            <Text fz="sm" c="dimmed">
              {verdict.reason}
              {verdict.quote === "" ? "" : ` “${verdict.quote}”`}
              {verdict.model === null
                ? ""
                : ` (${verdict.provider} ${verdict.model}, ${verdict.is_recorded ? "recorded" : "live"})`}
            </Text>
          </li>
        ))}
      </ul>
    </section>
  );
}
