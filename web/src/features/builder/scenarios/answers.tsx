/** Who answers when scenarios run, and what is recorded of the agent's model. */

import { Anchor, Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Confirm, FormProblem } from "../../../components/forms/dialog";
import { saveFile } from "../../../lib/api/download";
import { api, unwrap } from "../../../lib/api/client";
import { messageOf } from "../../../lib/api/errors";
import { pluralize } from "../../../lib/format/format";
import { useEditorContext } from "../state/editor";

export type AnswerChoice = "built-in" | "recorded" | "record" | "live";

export const ANSWER_CHOICES: { value: AnswerChoice; label: string }[] = [
  { value: "built-in", label: "Built-in model" },
  { value: "recorded", label: "Recorded answers" },
  { value: "record", label: "Recorded answers, record missing ones" },
  { value: "live", label: "The agent’s own model" },
];

/** A run is stopped when the model has cost so much. */
const MAX_CENTS = 100;

const HINTS: Record<AnswerChoice, string> = {
  "built-in": "Conversations that this agent must be able to hold. They run offline and cost nothing.",
  recorded: "The agent answers as its model did when it was recorded. Nothing is sent, and nothing is charged.",
  record: "Answers that are not recorded are requested from the agent’s model, which costs, and recorded.",
  live: "The agent’s own model answers. Every run costs, and can turn out differently.",
};

/** The part of an order for a play. */
export function answersOrder(choice: AnswerChoice) {
  const isRecording = choice === "record";
  const answers = isRecording ? ("recorded" as const) : choice;
  return { answers, record: isRecording, cost_budget_cents: MAX_CENTS };
}

interface AnswerSelectProps {
  choice: AnswerChoice;
  onChange: (choice: AnswerChoice) => void;
}

export function AnswerSelect({ choice, onChange }: AnswerSelectProps) {
  return (
    <NativeSelect
      size="xs"
      aria-label="Answers"
      data={ANSWER_CHOICES}
      value={choice}
      onChange={(event) => onChange(event.currentTarget.value as AnswerChoice)}
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
    onSuccess: (left) => {
      queries.setQueryData(key, left);
      setIsDeleting(false);
    },
  });
  const count = recorded.data?.count ?? 0;
  return (
    <Stack gap={4}>
      <Group gap={8}>
        <Text fz="sm" c="dimmed">
          {count === 0 ? "No answers are recorded." : `${pluralize(count, "recorded answer")}.`}
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
        Scenarios cannot run with recorded answers until they are recorded again, which costs.
      </Confirm>
    </Stack>
  );
}
