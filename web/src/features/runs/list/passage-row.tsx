/** What was said with the words of a search, as a row below its run: it leads to that place in the run. */

import { Table, Text } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { LinkRow } from "../../../components/tables/link-row";
import type { Schema } from "../../../lib/api/types";
import { formatClock, humanize } from "../../../lib/format/format";
import { partyName } from "../../../lib/runs/run-labels";
import { placeOf } from "../player/place";
import classes from "../runs.module.css";

interface PassageRowProps {
  run: Pick<Schema<"UsageRunItem">, "run_id" | "workflow_id" | "workflow_name" | "mode" | "direction">;
  passage: Schema<"RunPassage">;
  columns: number;
}

export function PassageRow({ run, passage, columns }: PassageRowProps) {
  const navigate = useNavigate();
  const target = {
    to: "/agents/$agentId/runs/$runId",
    params: { agentId: run.workflow_id, runId: run.run_id },
    search: placeOf(passage.start_s),
  } as const;
  return (
    <LinkRow isBelow onOpen={() => void navigate(target)}>
      <Table.Td colSpan={columns}>
        <Link {...target} className={classes.passage}>
          <Text span fz="xs" c="dimmed">
            {`${passage.role === "agent" ? run.workflow_name : humanize(partyName(run))}, ${formatClock(passage.start_s * 1000)}`}
          </Text>{" "}
          <q>{passage.parts.map(({ text, is_match }, index) => (is_match ? <mark key={index}>{text}</mark> : text))}</q>
        </Link>
      </Table.Td>
    </LinkRow>
  );
}
