/** The agent's scenarios: what came of each one last, and a run of one or all of them with the draft. */

import { Button, Group, Stack, Switch } from "@mantine/core";
import { Play as PlayIcon, Plus, ListPlus, Table2 } from "lucide-react";
import { useState } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { Empty, Loaded } from "../../../components/layout/page";
import { messageOf } from "../../../lib/api/errors";
import { useEditorContext } from "../state/editor";
import { AnswerHint, AnswerSelect, BudgetField, RecordedAnswers } from "./answers";
import { type LatestResult, isOpen, useLatestResults, useScenarios } from "./api";
import { FromRunDialog } from "./from-run-dialog";
import { PlayProgress } from "./play-progress";
import { ProposalsDialog } from "./proposals-dialog";
import { ResultDialog } from "./result-dialog";
import { nameFrom, NEW_SCENARIO, type PlainScenario, titleOf } from "./scenario";
import { ScenarioDialog } from "./scenario-dialog";
import { ScenarioRow } from "./scenario-row";
import classes from "./scenarios.module.css";
import { type Plays, usePlays } from "./use-plays";
import { VersionMatrix } from "./version-matrix";

interface Opened {
  /** How it is stored; null for a new one. */
  stored: PlainScenario | null;
  draft: PlainScenario;
}

interface ScenariosPanelProps {
  /** The run that a scenario is made of. */
  fromRun?: number | undefined;
  /** It was saved, or called off. */
  onFromRunDone?: () => void;
}

export function ScenariosPanel({ fromRun, onFromRunDone = () => undefined }: ScenariosPanelProps) {
  const { agent, canEdit } = useEditorContext();
  const scenarios = useScenarios(agent.id);
  const latest = useLatestResults(agent.id);
  const plays = usePlays();
  const { play, error, run } = plays;
  const [isComparing, setIsComparing] = useState(false);
  const [isProposing, setIsProposing] = useState(false);
  const propose = () => setIsProposing(true);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [shown, setShown] = useState<LatestResult | null>(null);
  const writeOne = () => setOpened({ stored: null, draft: NEW_SCENARIO });
  return (
    <div className={classes.panel}>
      <Loaded query={scenarios} what="The scenarios">
        {({ scenarios: found, version_number: version }) => {
          const all = found as PlainScenario[];
          const names = all.map((scenario) => scenario.name);
          const copy = (scenario: PlainScenario) => {
            const title = `${titleOf(scenario)} (copy)`;
            setOpened({ stored: null, draft: { ...scenario, name: nameFrom(title, names), title } });
          };
          return (
            <>
              {all.length === 0 ? (
                <Nothing onWrite={canEdit ? writeOne : null} onPropose={propose} />
              ) : (
                <Stack gap={8} className={classes.head}>
                  <Group gap={8}>
                    {canEdit && (
                      <>
                        <Button
                          size="xs"
                          leftSection={<PlayIcon size={14} />}
                          disabled={isOpen(play)}
                          onClick={() => run([])}
                        >
                          Run all
                        </Button>
                        <Button size="xs" variant="default" leftSection={<Plus size={14} />} onClick={writeOne}>
                          New scenario
                        </Button>
                        <Button size="xs" variant="default" leftSection={<ListPlus size={14} />} onClick={propose}>
                          Propose
                        </Button>
                      </>
                    )}
                    <Button
                      size="xs"
                      variant="default"
                      leftSection={<Table2 size={14} />}
                      onClick={() => setIsComparing(true)}
                    >
                      By version
                    </Button>
                  </Group>
                  {canEdit && <PlayOptions plays={plays} />}
                  <AnswerHint choice={plays.choice.answers} />
                  {["recorded", "record"].includes(plays.choice.answers) && <RecordedAnswers />}
                </Stack>
              )}
              <FormProblem words={error === null ? null : messageOf(error)} />
              {play !== undefined && all.length > 0 && <PlayProgress play={play} />}
              <ul className={classes.list}>
                {all.map((scenario) => (
                  <ScenarioRow
                    key={scenario.name}
                    scenario={scenario}
                    result={latest.data?.find((one) => one.version_number === version && one.name === scenario.name)}
                    isBusy={isOpen(play)}
                    onRun={() => run([scenario.name])}
                    onEdit={() => setOpened({ stored: scenario, draft: scenario })}
                    onCopy={() => copy(scenario)}
                    onShow={setShown}
                  />
                ))}
              </ul>
              {fromRun !== undefined && canEdit && (
                <FromRunDialog key={fromRun} runId={fromRun} taken={names} onClose={onFromRunDone} />
              )}
              {isProposing && <ProposalsDialog onClose={() => setIsProposing(false)} />}
              {isComparing && (
                <VersionMatrix scenarios={all} plays={plays} onShow={setShown} onClose={() => setIsComparing(false)} />
              )}
              {opened !== null && (
                <ScenarioDialog
                  stored={opened.stored}
                  draft={opened.draft}
                  taken={names.filter((name) => name !== opened.stored?.name)}
                  onClose={() => setOpened(null)}
                />
              )}
            </>
          );
        }}
      </Loaded>
      {shown !== null && <ResultDialog result={shown} onClose={() => setShown(null)} />}
    </div>
  );
}

/** How the next run is played. */
function PlayOptions({ plays: { choice, choose } }: { plays: Plays }) {
  const mayCost = choice.answers === "record" || choice.answers === "live";
  return (
    <Group gap="8px 12px" align="flex-end">
      <AnswerSelect choice={choice.answers} onChange={(answers) => choose({ answers })} />
      {mayCost && <BudgetField cents={choice.budgetCents} onChange={(budgetCents) => choose({ budgetCents })} />}
      <Switch
        size="xs"
        label="With sound"
        mih={30}
        display="flex"
        style={{ alignItems: "center" }}
        checked={choice.hasSound}
        onChange={(event) => choose({ hasSound: event.currentTarget.checked })}
      />
    </Group>
  );
}

interface NothingProps {
  /** Null for those who may not. */
  onWrite: (() => void) | null;
  onPropose: () => void;
}

function Nothing({ onWrite, onPropose }: NothingProps) {
  const actions = onWrite !== null && (
    <Group gap={8}>
      <Button onClick={onWrite}>Write one</Button>
      <Button variant="default" onClick={onPropose}>
        Propose some
      </Button>
    </Group>
  );
  return (
    <Empty title="No scenarios yet" isInside action={actions}>
      A scenario is a test conversation: what the caller says, and what the agent must do. Run your scenarios before you
      publish to see what a change breaks.
    </Empty>
  );
}
