/** The form of one scenario, and the same as YAML. The server says what is wrong with either. */

import { Alert, SegmentedControl, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { FormDialog } from "../../../components/forms/dialog";
import { isEqual, text } from "../../../graph/definition";
import { messageOf } from "../../../lib/api/errors";
import { useEditorContext } from "../state/editor";
import { checkScenarios, useStoreScenario } from "./api";
import { CallerFields } from "./caller-fields";
import { ExpectationFields } from "./expectation-fields";
import { issueAt, nameFrom, otherIssues, type PlainScenario, type ScenarioIssue, titleOf, turnsOf } from "./scenario";
import classes from "./scenarios.module.css";

const EXPECTED = [
  ...["says", "never_says", "nodes", "edges_include", "end", "max_turns"],
  ...["max_answer_ms", "max_yield_ms", "max_talk_overs", "judged", "judged_by", "max_cost_cents"],
  ...["L_R", "R_R", "L_Y", "R_Y", "I_A"].map((field) => `panel.${field}`),
];
const MODEL = ["persona", "goal", "style", "name"];
const MANNER = ["hesitates", "wrong_answers", "interrupts", "speed", "voice", "voicemail"];
const TAKEN = { path: "scenarios[0].name", message: "Another scenario has this name" };
const NOT_ONE = { path: "", message: "Write exactly one scenario here" };

interface ScenarioDialogProps {
  /** How it is stored; null for a new one. */
  stored: PlainScenario | null;
  draft: PlainScenario;
  /** The names of the others. */
  taken: readonly string[];
  onClose: () => void;
  /** What to know before saving. */
  note?: ReactNode;
}

export function ScenarioDialog({ stored, draft, taken, onClose, note }: ScenarioDialogProps) {
  const form = useScenarioForm(stored, draft, taken, onClose);
  const { scenario, issues, yaml } = form;
  const problems = otherIssues(issues, yaml === null ? fieldsOf(scenario) : []);
  return (
    <FormDialog
      title={stored === null ? "New scenario" : `Edit ${titleOf(stored)}`}
      isOpen
      onClose={onClose}
      onSubmit={() => void form.save()}
      submit="Save"
      isBusy={form.isBusy}
      isChanged={form.isChanged}
      problem={form.failure}
      size="xl"
    >
      {note}
      <SegmentedControl
        size="xs"
        aria-label="Edit as"
        value={yaml === null ? "form" : "yaml"}
        onChange={() => void form.toggle()}
        data={[
          { value: "form", label: "Form" },
          { value: "yaml", label: "YAML" },
        ]}
      />
      {problems.length > 0 && (
        <Alert color="red" variant="light" role="alert" py="xs">
          {problems.map((problem) => (
            <Text key={problem} fz="sm">
              {problem}
            </Text>
          ))}
        </Alert>
      )}
      {yaml === null ? (
        <Fields form={form} isNew={stored === null} />
      ) : (
        <Textarea
          label="YAML"
          autosize
          minRows={12}
          maxRows={24}
          spellCheck={false}
          classNames={{ input: classes.yaml ?? "" }}
          value={yaml}
          onChange={(event) => form.setYaml(event.currentTarget.value)}
        />
      )}
    </FormDialog>
  );
}

function Fields({ form, isNew }: { form: ReturnType<typeof useScenarioForm>; isNew: boolean }) {
  const { scenario, issues, change } = form;
  const shared = { scenario, issues, onChange: change };
  return (
    <Stack gap="lg">
      <TextInput
        label="Title"
        required
        data-autofocus
        placeholder="Books a table for two"
        maxLength={1000}
        value={text(scenario["title"])}
        error={issueAt(issues, "title")}
        onChange={(event) => form.setTitle(event.currentTarget.value)}
      />
      <TextInput
        label="Name"
        description={
          isNew ? "From the title. Used in files and on the command line." : "Used in files and on the command line."
        }
        maxLength={60}
        value={scenario.name}
        error={issueAt(issues, "name")}
        onChange={(event) => form.setName(event.currentTarget.value)}
      />
      <CallerFields {...shared} />
      <ExpectationFields {...shared} />
    </Stack>
  );
}

function fieldsOf(scenario: PlainScenario): string[] {
  return [
    ...["name", "title", "caller", "expect"],
    ...MANNER.map((field) => `caller.manner.${field}`),
    ...MODEL.map((field) => `caller.model.${field}`),
    ...EXPECTED.map((field) => `expect.${field}`),
    ...turnsOf(scenario).map((_, index) => `caller.turns.${index}`),
  ];
}

function useScenarioForm(
  stored: PlainScenario | null,
  draft: PlainScenario,
  taken: readonly string[],
  onDone: () => void,
) {
  const { agent, flush } = useEditorContext();
  const store = useStoreScenario(agent.id);
  const [scenario, setScenario] = useState(draft);
  const [yaml, setYaml] = useState<string | null>(null);
  const [issues, setIssues] = useState<ScenarioIssue[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [isYamlChanged, setIsYamlChanged] = useState(false);
  const [isNamed, setIsNamed] = useState(draft.name !== "");

  /** What is in the form or the text, when the server finds nothing wrong with it. */
  const check = async (): Promise<{ scenario: PlainScenario; yaml: string } | null> => {
    const content = yaml ?? JSON.stringify({ scenarios: [withoutEmptyTitle(scenario)] });
    const answer = await checkScenarios(agent.id, content);
    const [only, ...more] = answer.scenarios as PlainScenario[];
    setIssues(answer.is_valid ? [] : answer.issues);
    if (!answer.is_valid) return null;
    if (only !== undefined && more.length === 0) return { scenario: only, yaml: answer.yaml ?? "" };
    setIssues([NOT_ONE]);
    return null;
  };
  const attempt = async (work: () => Promise<void>) => {
    setIsBusy(true);
    setFailure(null);
    await work().catch((error: unknown) => setFailure(messageOf(error)));
    setIsBusy(false);
  };
  const toggle = () =>
    attempt(async () => {
      const checked = await check();
      if (checked === null) return;
      setScenario(checked.scenario);
      setYaml(yaml === null ? checked.yaml : null);
      setIsNamed(true);
    });
  const save = () =>
    attempt(async () => {
      const checked = await check();
      if (checked === null) return;
      if (taken.includes(checked.scenario.name)) {
        setIssues([TAKEN]);
        return;
      }
      await flush();
      await store.mutateAsync({ opened: stored, scenario: checked.scenario });
      onDone();
    });
  const setTitle = (title: string) =>
    setScenario({ ...scenario, title, name: isNamed ? scenario.name : nameFrom(title, taken) });
  const setName = (name: string) => {
    setIsNamed(true);
    setScenario({ ...scenario, name });
  };
  const write = (content: string) => {
    setIsYamlChanged(true);
    setYaml(content);
  };
  // A name that follows the title is nobody's writing.
  const written = { ...scenario, name: isNamed ? scenario.name : draft.name };
  const isChanged = isYamlChanged || !isEqual(withoutEmptyTitle(written), withoutEmptyTitle(draft));
  return {
    ...{ scenario, yaml, issues, failure, isBusy, isChanged },
    ...{ toggle, save, setYaml: write, setTitle, setName, change: setScenario },
  };
}

function withoutEmptyTitle({ title, ...rest }: PlainScenario): PlainScenario {
  return title === undefined || title === "" ? rest : { ...rest, title };
}
