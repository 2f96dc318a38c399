/** Scenarios that the server proposes from the graph, to be chosen. Nothing is stored before they are saved. */

import { Alert, Checkbox, Group, Loader, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Problem } from "../../../components/feedback/problem";
import { FormDialog } from "../../../components/forms/dialog";
import { Empty } from "../../../components/layout/page";
import { edgeTitles } from "../../../graph/definition";
import { messageOf } from "../../../lib/api/errors";
import { pluralize } from "../../../lib/format/format";
import { useEditorContext } from "../state/editor";
import { type Proposals, useAddScenarios, usePropose } from "./proposals-api";
import { type PlainScenario, titleOf } from "./scenario";
import classes from "./scenarios.module.css";

export function ProposalsDialog({ onClose }: { onClose: () => void }) {
  const { agent, flush } = useEditorContext();
  const { mutate, data, error } = usePropose(agent.id, flush);
  const store = useAddScenarios(agent.id);
  const [left, setLeft] = useState<readonly string[]>([]);
  const isAsked = useRef(false);
  useEffect(() => {
    // Once: React runs effects twice while the page is developed, and the server refuses a second request.
    if (!isAsked.current) mutate();
    isAsked.current = true;
  }, [mutate]);
  const scenarios = (data?.proposals ?? []).map(({ scenario }) => scenario as PlainScenario);
  const chosen = scenarios.filter(({ name }) => !left.includes(name));
  return (
    <FormDialog
      title="Proposed scenarios"
      isOpen
      onClose={onClose}
      onSubmit={() => store.mutate(chosen, { onSuccess: onClose })}
      submit={chosen.length === 0 ? "Save" : `Save ${pluralize(chosen.length, "scenario")}`}
      isDisabled={chosen.length === 0}
      isBusy={store.isPending}
      problem={store.isError ? messageOf(store.error) : null}
      size="lg"
    >
      {error !== null ? (
        <Problem error={error} onRetry={() => mutate()} />
      ) : data === undefined ? (
        <Group gap="sm" wrap="nowrap" role="status">
          <Loader size="sm" aria-hidden="true" />
          <Text fz="sm">Trying each transition in conversations with the agent. This takes up to 45 seconds.</Text>
        </Group>
      ) : scenarios.length === 0 ? (
        <Nothing found={data} />
      ) : (
        <Choice found={data} left={left} onLeave={setLeft} />
      )}
    </FormDialog>
  );
}

function Nothing({ found }: { found: Proposals }) {
  if (!found.is_complete)
    return (
      <Empty title="No scenarios found in time" isInside>
        The agent is too large or the server is too busy to find a scenario within 45 seconds. Try again, or write one.
      </Empty>
    );
  if (found.missed.length === 0)
    return (
      <Empty title="Nothing to add" isInside>
        Your passing scenarios already take every transition of this agent.
      </Empty>
    );
  return (
    <Stack gap="sm">
      <Empty title="No scenario was found" isInside>
        No conversation with the built-in offline model reaches the uncovered transitions.
      </Empty>
      <Missed ids={found.missed} />
    </Stack>
  );
}

interface ChoiceProps {
  found: Proposals;
  /** Names of those that are not chosen. */
  left: readonly string[];
  onLeave: (names: readonly string[]) => void;
}

function Choice({ found, left, onLeave }: ChoiceProps) {
  const proposals = found.proposals.map(({ scenario, ...parts }) => ({ scenario: scenario as PlainScenario, parts }));
  const names = proposals.map(({ scenario }) => scenario.name);
  return (
    <>
      <Text fz="sm" c="dimmed">
        Each one expects what the agent does now: its transitions, sentences, and tool calls. After saving, remove
        anything that is allowed to change. Tools on other servers answer “ok” until you write a better answer.
      </Text>
      {!found.is_complete && (
        <Alert color="yellow" variant="light">
          Time ran out before every transition was tried. Save and run these, then propose again for the rest.
        </Alert>
      )}
      <Checkbox
        label="All"
        checked={left.length === 0}
        indeterminate={left.length > 0 && left.length < names.length}
        onChange={() => onLeave(left.length === 0 ? names : [])}
      />
      <Stack gap={10} className={classes.proposals} role="region" aria-label="Proposals" tabIndex={0}>
        {proposals.map(({ scenario, parts }) => (
          <Checkbox
            key={scenario.name}
            label={titleOf(scenario)}
            description={<Covers {...parts} />}
            checked={!left.includes(scenario.name)}
            onChange={({ currentTarget: { checked } }) =>
              onLeave(checked ? left.filter((name) => name !== scenario.name) : [...left, scenario.name])
            }
          />
        ))}
      </Stack>
      {found.missed.length > 0 && <Missed ids={found.missed} />}
    </>
  );
}

function Covers({ covers, keys = [] }: { covers: readonly string[]; keys?: readonly string[] }) {
  const { document } = useEditorContext();
  const list = (ids: readonly string[]) => edgeTitles(document.definition, ids).join(", ");
  if (covers.length > 0) return <>Covers {list(covers)}.</>;
  if (keys.length > 0) return <>Presses the keys of {list(keys)}.</>;
  return <>The same call, with tools that fail.</>;
}

function Missed({ ids }: { ids: readonly string[] }) {
  const { document } = useEditorContext();
  return (
    <div>
      <Text fz="sm" fw={600}>
        Not reached
      </Text>
      <Text fz="sm" c="dimmed">
        No conversation with the built-in offline model reaches these transitions. Write scenarios for them yourself:{" "}
        {edgeTitles(document.definition, ids).join(", ")}.
      </Text>
    </div>
  );
}
