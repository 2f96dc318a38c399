/** What a run was given, what it learned, what it cost, and how it was judged. */

import { Badge, Table, Text } from "@mantine/core";
import { DataTable } from "../../components/data_table";
import { Panel } from "../../components/panel";
import { count, money, words } from "../../lib/format";
import type { RunDetail } from "../../lib/types";
import classes from "./runs.module.css";

export function Values({ title, values }: { title: string; values: unknown }) {
  const entries = typeof values === "object" && values !== null ? Object.entries(values) : [];
  if (entries.length === 0) return null;
  return (
    <Panel title={title}>
      <dl className={classes.facts}>
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{words(name)}</dt>
            <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

const COST_COLUMNS = [{ title: "What" }, { title: "Amount", isRight: true }, { title: "Price", isRight: true }, { title: "Cost", isRight: true }];

export function Costs({ run }: { run: RunDetail }) {
  if (run.cost_lines.length === 0 && run.unpriced.length === 0) return null;
  return (
    <Panel title="Cost" right={<Text fw={650}>{money(run.cost_cents)}</Text>}>
      <DataTable label="Cost lines" columns={COST_COLUMNS} minWidth={380} isTight>
        {run.cost_lines.map((line) => (
          <Table.Tr key={`${line.kind}.${line.provider}.${line.model}.${line.unit}`}>
            <Table.Td>
              <Name line={line} />
            </Table.Td>
            <Table.Td ta="right">{amount(line.quantity, line.unit)}</Table.Td>
            <Table.Td ta="right" c="dimmed" title={`Price of ${line.price_date}`}>
              {money(line.unit_price_cents)}
            </Table.Td>
            <Table.Td ta="right">{money(line.cost_cents)}</Table.Td>
          </Table.Tr>
        ))}
        {run.unpriced.map((line) => (
          <Table.Tr key={`${line.kind}.${line.provider}.${line.model}.${line.unit}`}>
            <Table.Td>
              <Name line={line} />
            </Table.Td>
            <Table.Td ta="right">{amount(line.quantity, line.unit)}</Table.Td>
            <Table.Td ta="right" colSpan={2} c="dimmed">
              no known price
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </Panel>
  );
}

function Name({ line }: { line: { kind: string; provider: string; model: string } }) {
  return (
    <>
      <Text fz="sm" fw={600}>
        {line.kind.length <= 3 ? line.kind.toUpperCase() : words(line.kind)}
      </Text>
      <Text fz="xs" c="dimmed">
        {line.provider} {line.model}
      </Text>
    </>
  );
}

function amount(quantity: number, unit: string): string {
  return `${count(Math.round(quantity * 100) / 100)} ${unit.replaceAll("_", " ")}`;
}

interface Review {
  status?: string;
  score?: number;
  passed?: boolean;
  summary?: string;
  issues?: unknown[];
}

export function Reviews({ reviews }: { reviews: Record<string, unknown> }) {
  const entries = Object.entries(reviews) as [string, Review][];
  if (entries.length === 0) return null;
  return (
    <Panel title="Reviews">
      <dl className={classes.facts}>
        {entries.map(([name, review]) => (
          <div key={name}>
            <dt>
              {name}{" "}
              <Badge color={review.passed === false ? "red" : review.passed ? "brand" : "gray"}>
                {review.score === undefined ? words(review.status ?? "pending") : `${review.score}`}
              </Badge>
            </dt>
            <dd>
              {review.summary ?? "–"}
              {review.issues?.map((issue) => (
                <Text key={JSON.stringify(issue)} fz="sm" fw={400} c="dimmed">
                  {typeof issue === "string" ? issue : JSON.stringify(issue)}
                </Text>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
