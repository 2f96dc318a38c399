/** What a run was given, what it learned, what it cost, and how it was judged. */

import { Badge, Table, Text } from "@mantine/core";
import { DataTable } from "../../../components/tables/data-table";
import { Panel } from "../../../components/layout/panel";
import { formatMoney, formatValue, humanize } from "../../../lib/format/format";
import { modelKindName, modelName } from "../../../lib/runs/model-names";
import { describeAmount, describePrice } from "./cost-descriptions";
import type { RunDetail } from "../../../lib/api/types";
import { describeUnusedAnswers } from "./early-answers";
import classes from "../runs.module.css";

export function Values({ title, values }: { title: string; values: unknown }) {
  const entries = typeof values === "object" && values !== null ? Object.entries(values) : [];
  if (entries.length === 0) return null;
  return (
    <Panel title={title}>
      <dl className={classes.facts}>
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{humanize(name)}</dt>
            <dd>{formatValue(value)}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

/** What the platform adds to a run's context; it stands above, under its own names. */
const PLATFORM = new Set([
  "agent_uuid",
  "api_key_id",
  "called_number",
  "caller_number",
  "direction",
  "phone_number",
  "provider",
  "telephony_configuration_id",
  "trigger_mode",
  "workflow_uuid",
]);

export function givenOf(context: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(context).filter(([name]) => !PLATFORM.has(name)));
}

const COST_COLUMNS = [{ title: "Item" }, { title: "Amount", isRight: true }, { title: "Cost", isRight: true }];

export function Costs({ run }: { run: RunDetail }) {
  if (run.cost_lines.length === 0 && run.unpriced.length === 0) return null;
  const unused = describeUnusedAnswers(run.usage);
  return (
    <Panel title="Cost" right={<Text fw={600}>{formatMoney(run.cost_cents)}</Text>}>
      <DataTable label="Cost lines" columns={COST_COLUMNS} minWidth={300} isTight>
        {run.cost_lines.map((line) => (
          <Table.Tr key={`${line.kind}.${line.provider}.${line.model}.${line.unit}`}>
            <Table.Td>
              <Name line={line} />
            </Table.Td>
            <Table.Td ta="right">
              <Text fz="sm">{describeAmount(line.quantity, line.unit)}</Text>
              <Text fz="xs" c="dimmed" title={`Price as of ${line.price_date}`}>
                {describePrice(line.unit_price_cents, line.unit)}
              </Text>
            </Table.Td>
            <Table.Td ta="right">{formatMoney(line.cost_cents)}</Table.Td>
          </Table.Tr>
        ))}
        {run.unpriced.map((line) => (
          <Table.Tr key={`${line.kind}.${line.provider}.${line.model}.${line.unit}`}>
            <Table.Td>
              <Name line={line} />
            </Table.Td>
            <Table.Td ta="right">{describeAmount(line.quantity, line.unit)}</Table.Td>
            <Table.Td ta="right" c="dimmed">
              price not known
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      {unused !== "" && (
        <Text fz="xs" c="dimmed" className={classes.below}>
          {unused}
        </Text>
      )}
    </Panel>
  );
}

function Name({ line }: { line: { kind: string; provider: string; model: string } }) {
  return (
    <>
      <Text fz="sm" fw={600}>
        {modelKindName(line.kind)}
      </Text>
      <Text fz="xs" c="dimmed">
        {modelName(line.provider, line.model)}
      </Text>
    </>
  );
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
                {review.score === undefined ? humanize(review.status ?? "pending") : `${review.score}`}
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
