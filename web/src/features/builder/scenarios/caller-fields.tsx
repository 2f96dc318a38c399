/** What the caller does: one row for each turn. */

import { ActionIcon, Button, Group, NativeSelect, NumberInput, Stack, Switch, Text, TextInput } from "@mantine/core";
import { ArrowUp, Plus, Trash2 } from "lucide-react";
import { type Data, object, text } from "../../../graph/definition";
import { ModelCaller } from "./model-fields";
import {
  type Act,
  type ActKind,
  issueAt,
  type PlainScenario,
  type ScenarioIssue,
  turnsOf,
  valueAt,
  withManner,
  withTurns,
} from "./scenario";
import classes from "./scenarios.module.css";
import { SoundManner } from "./sound-fields";

const MAX_TURNS = 100;
const ACTS: { value: ActKind; label: string }[] = [
  { value: "say", label: "Says" },
  { value: "press", label: "Presses" },
  { value: "silence_s", label: "Is silent for" },
  { value: "hang_up", label: "Hangs up" },
];
const HINTS: Record<ActKind, string> = { say: "I'd like to book a table", press: "1", silence_s: "10", hang_up: "" };
const UNITS: Partial<Record<ActKind, string>> = { silence_s: "s" };
const VALUES: Record<ActKind, string> = { say: "Words", press: "Keys", silence_s: "Seconds", hang_up: "" };

export interface ScenarioFieldsProps {
  scenario: PlainScenario;
  issues: readonly ScenarioIssue[];
  onChange: (scenario: PlainScenario) => void;
}

export function CallerFields({ scenario, issues, onChange }: ScenarioFieldsProps) {
  const turns = turnsOf(scenario);
  const set = (next: Act[]) => onChange(withTurns(scenario, next));
  const replace = (at: number, act: Act) => set(turns.map((one, index) => (index === at ? act : one)));
  const without = (at: number) => turns.filter((_, index) => index !== at);
  const moveUp = (at: number, act: Act) => set([...without(at).slice(0, at - 1), act, ...without(at).slice(at - 1)]);
  const problem = issueAt(issues, "caller");
  const rules = valueAt(scenario, "caller", "rules");
  return (
    <Stack gap="sm" role="group" aria-label="Caller" className={classes.section}>
      <Text component="h3" fz="md" fw={600}>
        The caller
      </Text>
      {turns.map((act, index) => (
        <TurnRow
          key={index}
          number={index + 1}
          act={act}
          problem={issueAt(issues, `caller.turns.${index}`)}
          onChange={(next) => replace(index, next)}
          onRemove={() => set(without(index))}
          onMoveUp={index === 0 ? null : () => moveUp(index, act)}
        />
      ))}
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Plus size={14} />}
        disabled={turns.length >= MAX_TURNS}
        onClick={() => set([...turns, { kind: "say", value: "", reply: "" }])}
        w="max-content"
      >
        Add turn
      </Button>
      {problem !== undefined && (
        <Text fz="sm" c="red" role="alert">
          {problem}
        </Text>
      )}
      {Array.isArray(rules) && rules.length > 0 && (
        <Text fz="sm" c="dimmed">
          This caller also follows rules. Edit them as YAML.
        </Text>
      )}
      <ModelCaller scenario={scenario} issues={issues} onChange={onChange} />
      <Manner scenario={scenario} issues={issues} onChange={onChange} />
      <SoundManner scenario={scenario} issues={issues} onChange={onChange} />
      <AnsweringMachine scenario={scenario} issues={issues} onChange={onChange} />
    </Stack>
  );
}

interface TurnRowProps {
  number: number;
  act: Act;
  problem: string | undefined;
  onChange: (act: Act) => void;
  onRemove: () => void;
  onMoveUp: (() => void) | null;
}

function TurnRow({ number, act, problem, onChange, onRemove, onMoveUp }: TurnRowProps) {
  return (
    <Group gap={6} align="flex-start" role="group" aria-label={`Turn ${number}`}>
      <NativeSelect
        size="sm"
        aria-label={`Turn ${number}: what the caller does`}
        data={ACTS}
        value={act.kind}
        onChange={(event) => onChange({ ...act, kind: event.currentTarget.value as ActKind, value: "" })}
        w={124}
      />
      {act.kind === "hang_up" ? (
        <Text fz="sm" c="red" flex="1 1 150px">
          {problem}
        </Text>
      ) : (
        <TextInput
          size="sm"
          aria-label={`Turn ${number}: ${VALUES[act.kind].toLowerCase()}`}
          placeholder={HINTS[act.kind]}
          maxLength={1000}
          rightSection={
            UNITS[act.kind] && (
              <Text fz="sm" c="dimmed" aria-hidden="true">
                {UNITS[act.kind]}
              </Text>
            )
          }
          value={act.value}
          error={problem}
          onChange={(event) => onChange({ ...act, value: event.currentTarget.value })}
          flex="1 1 150px"
        />
      )}
      <TextInput
        size="sm"
        aria-label={`Turn ${number}: the reply must contain`}
        placeholder="Reply must contain (optional)"
        maxLength={1000}
        value={act.reply}
        onChange={(event) => onChange({ ...act, reply: event.currentTarget.value })}
        flex="1 1 150px"
      />
      <Group gap={0} wrap="nowrap">
        <ActionIcon
          variant="subtle"
          color="gray"
          size={36}
          aria-label={`Move turn ${number} up`}
          disabled={onMoveUp === null}
          onClick={() => onMoveUp?.()}
        >
          <ArrowUp size={15} />
        </ActionIcon>
        <ActionIcon variant="subtle" color="gray" size={36} aria-label={`Remove turn ${number}`} onClick={onRemove}>
          <Trash2 size={15} />
        </ActionIcon>
      </Group>
    </Group>
  );
}

function Manner({ scenario, issues, onChange }: ScenarioFieldsProps) {
  const manner = object(valueAt(scenario, "caller", "manner"));
  const set = (name: string, value: number) => onChange(withManner(scenario, name, value));
  const hesitates = typeof manner["hesitates"] === "number" ? manner["hesitates"] : 0;
  const wrong = typeof manner["wrong_answers"] === "number" ? manner["wrong_answers"] : 0;
  return (
    <Group grow gap="sm" align="flex-start">
      <NumberInput
        label="Hesitates"
        description="Share of sentences that begin with a filler word."
        suffix="%"
        clampBehavior="none"
        min={0}
        max={100}
        value={Math.round(hesitates * 100)}
        error={issueAt(issues, "caller.manner.hesitates")}
        onChange={(value) => set("hesitates", Number(value) / 100)}
      />
      <NumberInput
        label="Wrong answers"
        description="How often the caller says something wrong first."
        clampBehavior="none"
        min={0}
        max={20}
        allowDecimal={false}
        value={wrong}
        error={issueAt(issues, "caller.manner.wrong_answers")}
        onChange={(value) => set("wrong_answers", Number(value))}
      />
    </Group>
  );
}

/** A machine takes the call: what else the caller does does not count. */
function AnsweringMachine({ scenario, issues, onChange }: ScenarioFieldsProps) {
  const stored = object(valueAt(scenario, "caller", "manner"))["voicemail"];
  const machine = object(stored);
  const store = (next: Data | null) => onChange(withManner(scenario, "voicemail", next));
  const { greeting: _greeting, ...silent } = machine;
  return (
    <>
      <Switch
        label="Voicemail answers"
        description="A greeting and a beep instead of a person, as on outbound calls."
        checked={stored !== undefined}
        onChange={(event) => store(event.currentTarget.checked ? {} : null)}
      />
      {stored !== undefined && (
        <Stack gap="sm" className={classes.nested}>
          <TextInput
            label="Greeting"
            description="By default: “You have reached my voicemail. Please leave a message after the tone.”"
            maxLength={1000}
            value={text(machine["greeting"])}
            error={issueAt(issues, "caller.manner.voicemail")}
            onChange={({ currentTarget: { value } }) => store(value === "" ? silent : { ...machine, greeting: value })}
          />
          <Switch
            label="Beep after the greeting"
            checked={machine["beeps"] !== false}
            onChange={(event) => store({ ...machine, beeps: event.currentTarget.checked })}
          />
        </Stack>
      )}
    </>
  );
}
