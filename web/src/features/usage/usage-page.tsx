/** What was used: by day, by agent, by model, and where the money went. */

import { Badge, Button, SegmentedControl, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { DataTable, Pager } from "../../components/tables/data-table";
import { Figure, Figures } from "../../components/layout/fact";
import { nameClass } from "../../components/tables/link-row";
import { Empty, Loaded, Page } from "../../components/layout/page";
import { Panel } from "../../components/layout/panel";
import { usePermissions } from "../../lib/organization/organization-context";
import { formatCount, formatDateTime, formatMoney, formatMilliseconds, humanize } from "../../lib/format/format";
import { modelKindName, modelName } from "../../lib/runs/model-names";
import { useLastPage } from "../../lib/ui/last-page";
import { AnswerTimesPanel } from "./answer-times-panel";
import { type Insights, useInsights, useLedger, useModels, usePeriod } from "./api";
import { CostChart, LatencyChart, MinutesChart, OutcomesChart } from "./day-charts";
import { OutcomeBar } from "./outcome-bar";
import classes from "./usage.module.css";

export function UsagePage() {
  const [days, setDays] = useState(30);
  const insights = useInsights(days);
  const permissions = usePermissions();
  const choose = (
    <SegmentedControl
      aria-label="Period"
      value={String(days)}
      onChange={(value) => setDays(Number(value))}
      data={[
        { value: "7", label: "7 days" },
        { value: "30", label: "30 days" },
        { value: "90", label: "90 days" },
      ]}
    />
  );
  return (
    <Page title="Usage" about="Minutes, cost, and quality in your organization's time zone." actions={choose}>
      <Period />
      <Loaded query={insights} what="The charts" height={520}>
        {(data) => (
          <>
            <div className={classes.two}>
              <MinutesChart days={data.days} />
              <CostChart days={data.days} />
              <OutcomesChart days={data.days} />
              <LatencyChart days={data.days} />
            </div>
            <Agents agents={data.agents} days={days} />
          </>
        )}
      </Loaded>
      <AnswerTimesPanel days={days} />
      <Models />
      {permissions.admin && <Ledger />}
    </Page>
  );
}

function Period() {
  const period = usePeriod();
  return (
    <Loaded query={period} what="The summary" height={96}>
      {(data) => (
        <Figures>
          <Figure name="Runs this month" value={formatCount(data.total_calls)} />
          <Figure name="Minutes this month" value={formatCount(Math.round(data.total_minutes * 10) / 10)} />
          <Figure name="Cost this month" value={formatMoney(data.total_cost_cents)} />
          <Figure
            name="Balance"
            value={formatMoney(data.balance_cents)}
            note={data.is_enforced ? "calls and chats are rejected at $0" : "no limit"}
          />
          <Figure
            name="Spent today"
            value={formatMoney(data.spent_today_cents)}
            note={data.daily_limit_cents !== null && `of ${formatMoney(data.daily_limit_cents)} a day`}
          />
          <Figure
            name="Minutes left"
            value={data.is_unlimited ? "No limit" : formatCount(Math.floor(data.minutes_remaining))}
            note={
              data.included_minutes > 0 &&
              `${formatCount(Math.floor(data.included_minutes_left))} of ${formatCount(data.included_minutes)} included minutes left until ${formatDateTime(data.included_until)}`
            }
          />
        </Figures>
      )}
    </Loaded>
  );
}

const AGENT_COLUMNS = [
  { title: "Agent" },
  { title: "Runs", isRight: true },
  { title: "Outcomes", width: 130 },
  { title: "Answered", isRight: true },
  { title: "Minutes", isRight: true },
  { title: "Cost", isRight: true },
  { title: "Median response", isRight: true },
  { title: "95% of runs", isRight: true },
];

function Agents({ agents, days }: { agents: Insights["agents"]; days: number }) {
  return (
    <Panel title={`By agent, last ${days} days`}>
      {agents.length === 0 ? (
        <Empty isInside title="No runs">
          Agents appear here once they have runs in this period.
        </Empty>
      ) : (
        <DataTable label="Usage by agent" columns={AGENT_COLUMNS} minWidth={780} isTight>
          {agents.map((agent) => (
            <Table.Tr key={agent.workflow_id}>
              <Table.Td style={{ whiteSpace: "normal" }}>
                <Link to="/agents/$agentId" params={{ agentId: agent.workflow_id }} className={nameClass}>
                  {agent.workflow_name}
                </Link>
              </Table.Td>
              <Table.Td ta="right">{formatCount(agent.call_count)}</Table.Td>
              <Table.Td>
                <OutcomeBar outcomes={agent.outcomes} of={agent.workflow_name} />
              </Table.Td>
              <Table.Td ta="right">{share(agent.outcomes["answered"] ?? 0, agent.call_count)}</Table.Td>
              <Table.Td ta="right">{formatCount(agent.total_minutes)}</Table.Td>
              <Table.Td ta="right">{formatMoney(agent.total_cost_cents)}</Table.Td>
              <Table.Td ta="right">{formatMilliseconds(agent.p50_ms)}</Table.Td>
              <Table.Td ta="right">{formatMilliseconds(agent.p95_ms)}</Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </Panel>
  );
}

function share(part: number, whole: number): string {
  return whole === 0 ? "–" : `${Math.round((part / whole) * 100)}%`;
}

const MODEL_COLUMNS = [
  { title: "Model" },
  { title: "Type" },
  { title: "Runs", isRight: true },
  { title: "Amount", isRight: true },
  { title: "Cost", isRight: true },
];

function Models() {
  const models = useModels();
  return (
    <Panel title="By model, this month">
      <Loaded query={models} what="The models">
        {(data) =>
          data.length === 0 ? (
            <Empty isInside title="No models used">
              Models appear here after the first run of the month.
            </Empty>
          ) : (
            <DataTable label="Usage by model" columns={MODEL_COLUMNS}>
              {data.map((model) => (
                <Table.Tr key={`${model.kind}.${model.provider}.${model.model}`}>
                  <Table.Td>
                    <Text span fz="sm" fw={600}>
                      {modelName(model.provider, model.model)}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <Badge color="gray">{modelKindName(model.kind)}</Badge>
                  </Table.Td>
                  <Table.Td ta="right">{formatCount(model.runs)}</Table.Td>
                  <Table.Td ta="right">{amountOf(model)}</Table.Td>
                  <Table.Td ta="right">{model.is_priced ? formatMoney(model.cost_cents) : "price not known"}</Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
          )
        }
      </Loaded>
    </Panel>
  );
}

function amountOf(model: {
  prompt_tokens: number;
  completion_tokens: number;
  characters: number;
  seconds: number;
}): string {
  if (model.prompt_tokens + model.completion_tokens > 0)
    return `${formatCount(model.prompt_tokens)} input, ${formatCount(model.completion_tokens)} output tokens`;
  if (model.characters > 0) return `${formatCount(model.characters)} characters`;
  return `${formatCount(Math.round(model.seconds))} seconds`;
}

const LEDGER_COLUMNS = [
  { title: "When" },
  { title: "Entry" },
  { title: "Amount", isRight: true },
  { title: "Balance", isRight: true },
];

function Ledger() {
  const [page, setPage] = useState(1);
  const ledger = useLedger(page);
  useLastPage(page, ledger, setPage);
  return (
    <Panel title="Ledger">
      <Loaded query={ledger} what="The ledger">
        {(data) =>
          data.entries.length === 0 ? (
            <Empty
              isInside
              title="No entries"
              action={
                <Button variant="default" renderRoot={(props) => <Link to="/runs" {...props} />}>
                  View runs
                </Button>
              }
            >
              Credits and charges appear here, one line each.
            </Empty>
          ) : (
            <>
              <DataTable label="Ledger" columns={LEDGER_COLUMNS}>
                {data.entries.map((entry) => (
                  <Table.Tr key={entry.id}>
                    <Table.Td c="dimmed">{formatDateTime(entry.created_at)}</Table.Td>
                    <Table.Td>
                      {humanize(entry.kind)}
                      {entry.run_id !== null && ` ${entry.run_id}`}
                      {entry.note && ` · ${entry.note}`}
                    </Table.Td>
                    <Table.Td ta="right">{formatMoney(entry.amount_cents)}</Table.Td>
                    <Table.Td ta="right">{formatMoney(entry.balance_cents)}</Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
              <Pager page={page} pages={data.total_pages} total={data.total_count} what="entries" onChange={setPage} />
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}
