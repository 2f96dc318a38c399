/** What the publish gate says about the draft: which scenarios passed, what fell, how much of the graph they cover. */

import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { FormProblem } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { type Data, object, text } from "../../../graph/definition";
import { messageOf } from "../../../lib/api/errors";
import { pluralize } from "../../../lib/format/format";
import { useEditorContext } from "../state/editor";
import { type Gate, isOpen, usePublishGate, useScenarios } from "./api";
import { PlayProgress } from "./play-progress";
import { faultSentence } from "./scenario";
import classes from "./scenarios.module.css";
import { usePlays } from "./use-plays";

export function GateVerdict() {
  const { agent } = useEditorContext();
  const gate = usePublishGate(agent.id);
  const scenarios = useScenarios(agent.id);
  const { play, error, run } = usePlays();
  const count = scenarios.data?.scenarios.length ?? 0;
  return (
    <Loaded query={gate} what="The scenario results" height={60}>
      {(known) =>
        known.is_required || count > 0 ? (
          <Stack gap={8} role="group" aria-label="Scenarios">
            <Verdict gate={known} count={count} />
            {play !== undefined && isOpen(play) ? (
              <PlayProgress play={play} />
            ) : (
              <Button size="xs" variant="default" w="max-content" disabled={count === 0} onClick={() => run([])}>
                {known.play === null ? "Run scenarios now" : "Run scenarios again"}
              </Button>
            )}
            <FormProblem words={error === null ? null : messageOf(error)} />
          </Stack>
        ) : null
      }
    </Loaded>
  );
}

function Verdict({ gate, count }: { gate: Gate; count: number }) {
  const { document } = useEditorContext();
  const demand = gate.is_required ? "This agent can be published only when its scenarios pass. " : "";
  if (gate.play === null)
    return (
      <Text fz="sm">
        {demand}
        {count === 0
          ? "It has no scenarios yet."
          : gate.is_required
            ? "They have not been run with this draft."
            : "The scenarios have not been run with this draft."}
      </Text>
    );
  const reasons = listOf(object(gate.play.verdict)["reasons"]);
  const covered = object(object(object(gate.play.verdict)["coverage"])["edges"])["percent"];
  return (
    <>
      <Group gap={8}>
        <Text fz="sm">
          {demand}
          {pluralize(gate.play.passed, "scenario")} of {gate.play.total} passed with this draft
          {typeof covered === "number" ? `, and took ${covered}% of the transitions` : ""}.
        </Text>
      </Group>
      {reasons.length > 0 && (
        <Alert color="red" variant="light" title="Reasons not to publish">
          <ul className={classes.faults}>
            {reasons.map((reason, index) => (
              <li key={index}>{faultSentence({ message: text(reason["message"]) }, document.definition)}</li>
            ))}
          </ul>
        </Alert>
      )}
    </>
  );
}

function listOf(value: unknown): Data[] {
  return Array.isArray(value) ? value.map(object) : [];
}
