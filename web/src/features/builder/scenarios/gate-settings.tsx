/** What must hold before this agent is published. It belongs to the agent and applies at once, unlike other settings. */

import { NativeSelect, NumberInput, Stack, Switch, Text } from "@mantine/core";
import { useState } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { messageOf } from "../../../lib/api/errors";
import { usePermissions } from "../../../lib/organization/organization-context";
import { useEditorContext } from "../state/editor";
import { ANSWER_CHOICES } from "./answers";
import { type Gate, type GateDemands, usePublishGate, useSetPublishGate } from "./api";

export function GateSettings() {
  const { agent } = useEditorContext();
  const gate = usePublishGate(agent.id);
  return (
    <Loaded query={gate} what="The publishing rules">
      {(known) => <Demands gate={known} />}
    </Loaded>
  );
}

function Demands({ gate }: { gate: Gate }) {
  const { agent } = useEditorContext();
  const { admin } = usePermissions();
  const store = useSetPublishGate(agent.id);
  const [percent, setPercent] = useState<number | string>(gate.min_edge_coverage);
  const isShare = typeof percent === "number" && percent >= 0 && percent <= 100;
  const set = (part: Partial<GateDemands>) => store.mutate({ ...demandsOf(gate), ...part });
  return (
    <Stack gap="md">
      <Switch
        label="Publish this agent only when its scenarios pass"
        description="They must pass with the exact draft being published. Admins can publish anyway if they give a reason."
        disabled={!admin || store.isPending}
        checked={gate.is_required}
        onChange={(event) => set({ is_required: event.currentTarget.checked })}
      />
      {gate.is_required && (
        <NumberInput
          label="Required transition coverage"
          description="The share of all transitions that scenarios must take."
          suffix="%"
          clampBehavior="none"
          min={0}
          max={100}
          disabled={!admin}
          value={percent}
          error={isShare ? null : "Enter 0 to 100%."}
          onChange={setPercent}
          onBlur={() => {
            if (isShare && percent !== gate.min_edge_coverage) set({ min_edge_coverage: percent });
          }}
        />
      )}
      {gate.is_required && (
        <Switch
          label="Run them as calls with sound"
          description="Answers must not be slower than in the published version, and the agent must not talk over the caller more often. Takes longer."
          disabled={!admin || store.isPending}
          checked={gate.with_sound}
          onChange={(event) => set({ with_sound: event.currentTarget.checked })}
        />
      )}
      {gate.is_required && (
        <NativeSelect
          label="Answers"
          description="Only runs with these answers count. Recorded answers cost nothing and are the same each time."
          disabled={!admin || store.isPending}
          data={ANSWER_CHOICES.filter(({ value }) => value !== "record")}
          value={gate.answers}
          onChange={(event) => set({ answers: event.currentTarget.value as GateDemands["answers"] })}
        />
      )}
      {gate.is_required && gate.answers !== "built-in" && (
        <Switch
          label="Block publishing when a model’s judgment fails"
          description="Otherwise, what a model judges is shown only as a warning."
          disabled={!admin || store.isPending}
          checked={gate.model_verdicts_stop}
          onChange={(event) => set({ model_verdicts_stop: event.currentTarget.checked })}
        />
      )}
      <Text fz="sm" c="dimmed">
        {admin ? "Applies to all versions immediately, without publishing." : "Only admins can change this."}
      </Text>
      <FormProblem words={store.isError ? messageOf(store.error) : null} />
    </Stack>
  );
}

function demandsOf(gate: Gate): GateDemands {
  const { draft_hash: _hash, may_publish: _mayPublish, play: _play, ...demands } = gate;
  return demands;
}
