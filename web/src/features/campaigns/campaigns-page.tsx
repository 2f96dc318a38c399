/** All campaigns, the newest first. */

import { Button, Progress, Table, Text } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { DataTable, ShowMore } from "../../components/tables/data-table";
import { LinkRow, nameClass } from "../../components/tables/link-row";
import { Empty, Loaded, Page } from "../../components/layout/page";
import { Panel } from "../../components/layout/panel";
import { usePermissions } from "../../lib/organization/organization-context";
import { formatCount, formatDateTime, pluralize, formatTimeAgo } from "../../lib/format/format";
import { zoneName } from "../../lib/format/time-zones";
import { formatInZone } from "../../lib/format/zoned-time";
import { useStartZone } from "./start/start-time";
import { type Campaign, useCampaigns } from "./api";
import { CampaignBadge } from "../../components/runs/campaign-badge";

const COLUMNS = [
  { title: "Campaign" },
  { title: "Status" },
  { title: "Agent" },
  { title: "Contacts", isRight: true },
  { title: "Done", width: 190 },
  { title: "Answered", isRight: true },
  { title: "Created", isRight: true },
];

export function CampaignsPage() {
  const campaigns = useCampaigns();
  const permissions = usePermissions();
  const make = permissions.write ? (
    <Button renderRoot={(props) => <Link to="/campaigns/new" {...props} />}>New campaign</Button>
  ) : null;
  return (
    <Page title="Campaigns" about="Have an agent call a list of contacts within the hours you allow." actions={make}>
      <Loaded query={campaigns} what="The campaigns" height={300}>
        {(data) =>
          data.length === 0 ? (
            <Empty title="No campaigns yet" action={make}>
              Upload a CSV of phone numbers, choose an agent, and set the calling hours. The simulated phones
              +12015550101 to …09 answer without a carrier account, so you can try it right away.
            </Empty>
          ) : (
            <Panel title={campaigns.more === null ? pluralize(data.length, "campaign") : "Campaigns"}>
              <DataTable label="Campaigns" columns={COLUMNS} minWidth={860}>
                {data.map((campaign) => (
                  <CampaignRow key={campaign.id} campaign={campaign} />
                ))}
              </DataTable>
              <ShowMore list={campaigns} what="campaigns" />
            </Panel>
          )
        }
      </Loaded>
    </Page>
  );
}

function CampaignRow({ campaign }: { campaign: Campaign }) {
  const navigate = useNavigate();
  const target = { to: "/campaigns/$campaignId", params: { campaignId: campaign.id } } as const;
  const { progress } = campaign;
  return (
    <LinkRow onOpen={() => void navigate(target)}>
      <Table.Td>
        <Link {...target} className={nameClass}>
          {campaign.name}
        </Link>
      </Table.Td>
      <Table.Td>
        <CampaignBadge status={campaign.status} />
        <StartNote campaign={campaign} />
      </Table.Td>
      <Table.Td>{campaign.workflow_name}</Table.Td>
      <Table.Td ta="right">{formatCount(progress.total_contacts)}</Table.Td>
      <Table.Td>
        <Progress
          value={progress.progress_percentage}
          aria-label={`${campaign.name}: ${Math.round(progress.progress_percentage)}% done`}
        />
      </Table.Td>
      <Table.Td ta="right">{formatCount(progress.answered)}</Table.Td>
      <Table.Td ta="right">
        <Text span fz="sm" c="dimmed" title={formatDateTime(campaign.created_at)}>
          {formatTimeAgo(campaign.created_at)}
        </Text>
      </Table.Td>
    </LinkRow>
  );
}

/** Shows when a draft starts automatically, or that it did not start. */
function StartNote({ campaign }: { campaign: Campaign }) {
  const zone = useStartZone(campaign.calling_hours?.timezone);
  if (campaign.status !== "draft" || !campaign.starts_at) return null;
  const time = formatInZone(campaign.starts_at, zone);
  return (
    <Text fz="xs" c={campaign.start_problem ? "red" : "dimmed"} title={zoneName(zone)}>
      {campaign.start_problem ? `Did not start ${time}` : `Starts ${time}`}
    </Text>
  );
}
