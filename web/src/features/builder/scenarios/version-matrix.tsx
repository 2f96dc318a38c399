/** Scenarios × versions: what came of each with each, and the conversation behind it. */

import { ActionIcon, Stack, Table, Text, Tooltip, UnstyledButton } from "@mantine/core";
import { Check, Play as PlayIcon, X } from "lucide-react";
import { FormProblem, Dialog } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { messageOf } from "../../../lib/api/errors";
import { useVersions } from "../api";
import { useEditorContext } from "../state/editor";
import { isOpen, type LatestResult, useLatestResults } from "./api";
import classes from "./matrix.module.css";
import { type MatrixColumn, matrixColumns, type MatrixRow, matrixRows } from "./matrix";
import { PlayProgress } from "./play-progress";
import type { PlainScenario } from "./scenario";
import type { Plays } from "./use-plays";

interface VersionMatrixProps {
  scenarios: readonly PlainScenario[];
  plays: Plays;
  onShow: (result: LatestResult) => void;
  onClose: () => void;
}

export function VersionMatrix({ scenarios, plays, onShow, onClose }: VersionMatrixProps) {
  const { agent, canEdit } = useEditorContext();
  const versions = useVersions(agent.id);
  const latest = useLatestResults(agent.id);
  const { play, error, run } = plays;
  return (
    <Dialog title="Scenarios by version" isOpen onClose={onClose} size="xl">
      <Stack gap="sm">
        <Text fz="sm" c="dimmed">
          The last result of each scenario with each version, newest first. Each version is run with the scenarios it
          was published with.
        </Text>
        <FormProblem words={error === null ? null : messageOf(error)} />
        {play !== undefined && (
          <div className={classes.progress}>
            <PlayProgress play={play} />
          </div>
        )}
        <Loaded query={versions} what="The versions">
          {(all) => (
            <Loaded query={latest} what="The results">
              {(results) => {
                const columns = matrixColumns(all);
                const rows = matrixRows(scenarios, results, columns);
                return (
                  <div className={classes.scroll} role="region" aria-label="Results by version" tabIndex={0}>
                    <Table className={classes.table} horizontalSpacing="sm" verticalSpacing={6}>
                      <Head
                        columns={columns}
                        onRun={canEdit ? (number) => run([], number) : null}
                        isBusy={isOpen(play)}
                      />
                      <Table.Tbody>
                        {rows.map((row) => (
                          <Row key={row.name} row={row} columns={columns} onShow={onShow} />
                        ))}
                      </Table.Tbody>
                    </Table>
                  </div>
                );
              }}
            </Loaded>
          )}
        </Loaded>
      </Stack>
    </Dialog>
  );
}

interface HeadProps {
  columns: readonly MatrixColumn[];
  /** Null for those who may not run. */
  onRun: ((number: number) => void) | null;
  isBusy: boolean;
}

function Head({ columns, onRun, isBusy }: HeadProps) {
  return (
    <Table.Thead>
      <Table.Tr>
        <Table.Th scope="col" className={classes.name}>
          Scenario
        </Table.Th>
        {columns.map(({ number, title, isPublished, runsWith }) => (
          <Table.Th key={number} scope="col">
            <span className={classes.version}>
              <span>
                {title}
                {isPublished && <span className={classes.hint}>published</span>}
              </span>
              {onRun !== null && (
                <Tooltip label={`Run all with ${runsWith}`}>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={`Run all with ${runsWith}`}
                    disabled={isBusy}
                    onClick={() => onRun(number)}
                  >
                    <PlayIcon size={14} />
                  </ActionIcon>
                </Tooltip>
              )}
            </span>
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  );
}

interface RowProps {
  row: MatrixRow;
  columns: readonly MatrixColumn[];
  onShow: (result: LatestResult) => void;
}

function Row({ row, columns, onShow }: RowProps) {
  return (
    <Table.Tr>
      <Table.Th scope="row" className={classes.name}>
        {row.title}
        {!row.isThere && <span className={classes.hint}>no longer there</span>}
      </Table.Th>
      {row.cells.map((result, index) => (
        <Table.Td key={columns[index]?.number}>
          {result === null ? (
            <Text fz="xs" c="dimmed">
              Not run
            </Text>
          ) : (
            <UnstyledButton
              className={classes.result}
              data-failed={!result.passed || undefined}
              aria-label={`${result.passed ? "Passed" : "Failed"}: show conversation of ${row.title}, ${columns[index]?.title ?? ""}`}
              onClick={() => onShow(result)}
            >
              {result.passed ? <Check size={13} aria-hidden /> : <X size={13} aria-hidden />}
              {result.passed ? "Passed" : "Failed"}
            </UnstyledButton>
          )}
        </Table.Td>
      ))}
    </Table.Tr>
  );
}
