/** Agents, runs and campaigns of all organizations as lists. */

import { Badge, Table } from "@mantine/core";
import { useState } from "react";
import { DataTable, Pager, ShowMore } from "../../components/tables/data-table";
import { Empty, Loaded } from "../../components/layout/page";
import { Panel } from "../../components/layout/panel";
import { CampaignBadge } from "../../components/runs/campaign-badge";
import { RunBadge } from "../../components/runs/run-badge";
import {
  formatCount,
  formatDateTime,
  formatDuration,
  formatMoney,
  formatTimeAgo,
  humanize,
} from "../../lib/format/format";
import { useLastPage } from "../../lib/ui/last-page";
import { useCampaigns, useRuns, useWorkflows } from "./api";

const NOTHING = (
  <Empty isInside title="Nothing here yet">
    They will appear here once they are created.
  </Empty>
);

export function WorkflowsTab({ organizationId }: { organizationId: number | null }) {
  const workflows = useWorkflows(organizationId);
  return (
    <Panel title="Agents">
      <Loaded query={workflows} what="The agents">
        {(data) =>
          data.length === 0 ? (
            NOTHING
          ) : (
            <>
              <DataTable
                label="Agents of all organizations"
                isTight
                columns={[
                  { title: "Agent" },
                  { title: "Organization" },
                  { title: "Status" },
                  { title: "Runs", isRight: true },
                  { title: "Updated" },
                ]}
              >
                {data.map((workflow) => (
                  <Table.Tr key={workflow.id}>
                    <Table.Td fw={600} style={{ whiteSpace: "normal" }}>
                      {workflow.name}
                    </Table.Td>
                    <Table.Td>{workflow.organization_name}</Table.Td>
                    <Table.Td>
                      <Badge color={workflow.status === "active" ? "brand" : "gray"}>{humanize(workflow.status)}</Badge>
                    </Table.Td>
                    <Table.Td ta="right">{formatCount(workflow.total_runs)}</Table.Td>
                    <Table.Td c="dimmed">{formatDateTime(workflow.updated_at)}</Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
              <ShowMore list={workflows} what="agents" />
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

const RUN_COLUMNS = [
  { title: "Run" },
  { title: "Organization" },
  { title: "Agent" },
  { title: "Outcome" },
  { title: "Duration", isRight: true },
  { title: "Cost", isRight: true },
  { title: "When", isRight: true },
];

export function RunsTab({ organizationId }: { organizationId: number | null }) {
  const [page, setPage] = useState(1);
  const runs = useRuns(organizationId, page);
  useLastPage(page, runs, setPage);
  return (
    <Panel title="Runs">
      <Loaded query={runs} what="The runs">
        {(data) =>
          data.runs.length === 0 ? (
            NOTHING
          ) : (
            <>
              <DataTable label="Runs of all organizations" columns={RUN_COLUMNS} minWidth={860} isTight>
                {data.runs.map((run) => (
                  <Table.Tr key={run.id}>
                    <Table.Td fw={600}>{run.name}</Table.Td>
                    <Table.Td>{run.organization_name}</Table.Td>
                    <Table.Td style={{ whiteSpace: "normal" }}>{run.workflow_name}</Table.Td>
                    <Table.Td>
                      <RunBadge status={run.status} outcome={run.outcome} />
                    </Table.Td>
                    <Table.Td ta="right">{formatDuration(run.duration)}</Table.Td>
                    <Table.Td ta="right">{formatMoney(run.cost_cents)}</Table.Td>
                    <Table.Td ta="right" c="dimmed">
                      {formatTimeAgo(run.created_at)}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
              <Pager page={page} pages={data.total_pages} total={data.total_count} what="runs" onChange={setPage} />
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

export function CampaignsTab({ organizationId }: { organizationId: number | null }) {
  const campaigns = useCampaigns(organizationId);
  return (
    <Panel title="Campaigns">
      <Loaded query={campaigns} what="The campaigns">
        {(data) =>
          data.length === 0 ? (
            NOTHING
          ) : (
            <>
              <DataTable
                label="Campaigns of all organizations"
                columns={[
                  { title: "Campaign" },
                  { title: "Organization" },
                  { title: "Agent" },
                  { title: "Status" },
                  { title: "Concurrency", isRight: true },
                  { title: "Created" },
                ]}
                minWidth={760}
              >
                {data.map((campaign) => (
                  <Table.Tr key={campaign.id}>
                    <Table.Td fw={600}>{campaign.name}</Table.Td>
                    <Table.Td>{campaign.organization_name}</Table.Td>
                    <Table.Td style={{ whiteSpace: "normal" }}>{campaign.workflow_name}</Table.Td>
                    <Table.Td>
                      <CampaignBadge status={campaign.status} />
                    </Table.Td>
                    <Table.Td ta="right">{campaign.max_concurrency}</Table.Td>
                    <Table.Td c="dimmed">{formatDateTime(campaign.created_at)}</Table.Td>
                  </Table.Tr>
                ))}
              </DataTable>
              <ShowMore list={campaigns} what="campaigns" />
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}
