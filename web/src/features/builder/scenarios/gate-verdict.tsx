/** What the publish gate says about the draft: which scenarios passed, what fell, how much of the graph they cover. */

import { Alert, Button, Group, Stack, Table, Text } from "@mantine/core";
import { FormProblem } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { type Data, object, text } from "../../../graph/definition";
import { messageOf } from "../../../lib/api/errors";
import { formatMilliseconds, pluralize } from "../../../lib/format/format";
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
              <Button
                size="xs"
                variant="default"
                w="max-content"
                disabled={count === 0}
                onClick={() => run([], undefined, { hasSound: known.with_sound, answers: known.answers })}
              >
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
  const how = gate.with_sound ? " with sound" : "";
  const demand = gate.is_required ? `This agent can be published only when its scenarios pass${how}. ` : "";
  if (gate.play === null)
    return (
      <Text fz="sm">
        {demand}
        {count === 0
          ? "It has no scenarios yet."
          : gate.is_required
            ? `They have not been run${how} with this draft.`
            : `The scenarios have not been run${how} with this draft.`}
      </Text>
    );
  const reasons = listOf(object(gate.play.verdict)["reasons"]);
  const warnings = listOf(object(gate.play.verdict)["warnings"]);
  const covered = object(object(object(gate.play.verdict)["coverage"])["edges"])["percent"];
  return (
    <>
      <Group gap={8}>
        <Text fz="sm">
          {demand}
          {gate.play.passed} of {pluralize(gate.play.total, "scenario")} passed with this draft
          {typeof covered === "number" ? ` and covered ${Math.floor(covered)}% of the transitions` : ""}.
        </Text>
      </Group>
      <Heard verdict={object(gate.play.verdict)} />
      <Reasons color="red" title="Reasons not to publish" reasons={reasons} />
      <Reasons color="yellow" title="Judged by a model" reasons={warnings} />
    </>
  );
}

function Reasons({ color, title, reasons }: { color: string; title: string; reasons: Data[] }) {
  const { document } = useEditorContext();
  if (reasons.length === 0) return null;
  return (
    <Alert color={color} variant="light" title={title}>
      <ul className={classes.faults}>
        {reasons.map((reason, index) => (
          <li key={index}>{faultSentence({ message: text(reason["message"]) }, document.definition)}</li>
        ))}
      </ul>
    </Alert>
  );
}

const FIGURES: [string, string, (value: number | null) => string][] = [
  ["Average answer time", "mean_answer_ms", formatMilliseconds],
  ["Longest answer time", "max_answer_ms", formatMilliseconds],
  ["Talk-overs", "talk_overs", String],
];

/** The answer times and talk-overs of scenarios that were run with sound, beside those of the published version. */
function Heard({ verdict }: { verdict: Data }) {
  const draft = object(verdict["sound"]);
  if (!("answers" in draft)) return null;
  const published = verdict["published_sound"] === null ? null : object(verdict["published_sound"]);
  const sides = published === null ? [draft] : [draft, published];
  return (
    <Table fz="sm" aria-label="What was heard" withRowBorders={false} verticalSpacing={2} horizontalSpacing={0}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th fw={600}>With sound</Table.Th>
          <Table.Th fw={600}>Draft</Table.Th>
          {published !== null && <Table.Th fw={600}>Published</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {FIGURES.map(([label, field, show]) => (
          <Table.Tr key={field}>
            <Table.Td>{label}</Table.Td>
            {sides.map((side, index) => (
              <Table.Td key={index}>{show(side[field] as number | null)}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function listOf(value: unknown): Data[] {
  return Array.isArray(value) ? value.map(object) : [];
}
