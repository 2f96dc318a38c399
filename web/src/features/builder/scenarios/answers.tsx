/** Who answers when scenarios run, and what is recorded of the agent's model. */

import { Anchor, Button, Group, NativeSelect, NumberInput, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Confirm, FormProblem } from "../../../components/forms/dialog";
import { saveFile } from "../../../lib/api/download";
import { api, unwrap } from "../../../lib/api/client";
import { messageOf } from "../../../lib/api/errors";
import { keepAnswer } from "../../../lib/api/keep-answer";
import { pluralize } from "../../../lib/format/format";
import { useEditorContext } from "../state/editor";

export type AnswerChoice = "built-in" | "recorded" | "record" | "live";

export const ANSWER_CHOICES: { value: AnswerChoice; label: string }[] = [
  { value: "built-in", label: "Built-in model" },
  { value: "recorded", label: "Recorded answers" },
  { value: "record", label: "Record missing answers" },
  { value: "live", label: "The agent’s own model" },
];

/** Of a run, unless another one is entered. */
const DEFAULT_BUDGET_CENTS = 100;
const MAX_BUDGET_CENTS = 10_000;

const HINTS: Record<AnswerChoice, string> = {
  "built-in": "Test conversations for this agent. They run offline and cost nothing.",
  recorded: "The agent gives the answers recorded from its model. Nothing is sent, and nothing is charged.",
  record: "Missing answers are requested from the agent’s model and recorded, which costs money.",
  live: "The agent’s own model answers. Every run costs money, and results can vary.",
};

/** The part of an order for a play. */
export function answersOrder(choice: AnswerChoice, budgetCents = DEFAULT_BUDGET_CENTS) {
  const isRecording = choice === "record";
  const answers = isRecording ? ("recorded" as const) : choice;
  return { answers, record: isRecording, cost_budget_cents: budgetCents };
}

interface AnswerSelectProps {
  choice: AnswerChoice;
  onChange: (choice: AnswerChoice) => void;
}

export function AnswerSelect({ choice, onChange }: AnswerSelectProps) {
  return (
    <NativeSelect
      size="xs"
      label="Answers"
      flex="1 1 200px"
      data={ANSWER_CHOICES}
      value={choice}
      onChange={(event) => onChange(event.currentTarget.value as AnswerChoice)}
    />
  );
}

interface BudgetFieldProps {
  /** Undefined: the default. */
  cents: number | undefined;
  onChange: (cents: number) => void;
}

/** What models may cost before a run is stopped. Without an amount, the default applies; a larger one than is allowed becomes the largest. */
export function BudgetField({ cents = DEFAULT_BUDGET_CENTS, onChange }: BudgetFieldProps) {
  const [typed, setTyped] = useState<number | string>(cents / 100);
  const keep = () => {
    const entered = Math.round(100 * Number(typed));
    const next = entered > 0 ? Math.min(MAX_BUDGET_CENTS, entered) : DEFAULT_BUDGET_CENTS;
    setTyped(next / 100);
    onChange(next);
  };
  return (
    <NumberInput
      size="xs"
      label="Budget per run"
      prefix="$"
      min={0.01}
      max={MAX_BUDGET_CENTS / 100}
      step={0.5}
      decimalScale={2}
      fixedDecimalScale
      w={116}
      clampBehavior="none"
      value={typed}
      onChange={setTyped}
      onBlur={keep}
    />
  );
}

export function AnswerHint({ choice }: { choice: AnswerChoice }) {
  return (
    <Text fz="sm" c="dimmed">
      {HINTS[choice]}
    </Text>
  );
}

/** How much is recorded, to download for CI and to delete. */
export function RecordedAnswers() {
  const { agent, canEdit } = useEditorContext();
  const path = { path: { workflow_id: agent.id } };
  const key = ["agent", agent.id, "recorded-answers"];
  const queries = useQueryClient();
  const [isDeleting, setIsDeleting] = useState(false);
  const recorded = useQuery({
    queryKey: key,
    queryFn: () => unwrap(api.GET("/api/v1/workflow/{workflow_id}/recorded-answers", { params: path })),
  });
  const download = useMutation({
    mutationFn: () => unwrap(api.GET("/api/v1/workflow/{workflow_id}/recorded-answers/file", { params: path })),
    onSuccess: (file) => saveFile(new Blob([JSON.stringify(file, null, 1)]), "recorded-answers.json"),
  });
  const remove = useMutation({
    mutationFn: () => unwrap(api.DELETE("/api/v1/workflow/{workflow_id}/recorded-answers", { params: path })),
    onSuccess: async (left) => {
      await keepAnswer(queries, key, left);
      setIsDeleting(false);
    },
  });
  const count = recorded.data?.count ?? 0;
  return (
    <Stack gap={4}>
      <Group gap={8}>
        <Text fz="sm" c="dimmed">
          {count === 0
            ? "No answers are recorded yet. Run with “Record missing answers” to record them."
            : `${pluralize(count, "recorded answer")}.`}
        </Text>
        {canEdit && count > 0 && (
          <>
            <Anchor component="button" type="button" fz="sm" onClick={() => download.mutate()}>
              Download
            </Anchor>
            <Button size="compact-xs" variant="subtle" color="red" onClick={() => setIsDeleting(true)}>
              Delete
            </Button>
          </>
        )}
      </Group>
      <FormProblem words={download.isError ? messageOf(download.error) : null} />
      <Confirm
        title="Delete the recorded answers?"
        confirm="Delete"
        isOpen={isDeleting}
        isBusy={remove.isPending}
        error={remove.error}
        onClose={() => setIsDeleting(false)}
        onConfirm={() => remove.mutate()}
      >
        Scenarios cannot run with recorded answers until they are recorded again, which costs money.
      </Confirm>
    </Stack>
  );
}
