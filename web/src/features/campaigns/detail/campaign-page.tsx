/** The page of one campaign: its actions, progress, and contacts. */

import { Alert, Anchor, Group, Stack, Text } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { Fact } from "../../../components/layout/fact";
import { Loaded, Page } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { Problem } from "../../../components/feedback/problem";
import { formatDateTime, formatMoney, humanize } from "../../../lib/format/format";
import { usePageTitle } from "../../../lib/ui/use-page-title";
import { AccountAlert, AccountFact } from "../rules/account-choice";
import { ScheduledStart } from "../start/scheduled-start";
import { Actions } from "./actions";
import { type Campaign, useCampaign, useLiveProgress } from "../api";
import { ContactsPanel } from "./contacts-panel";
import classes from "../create/new-campaign.module.css";
import { PreflightPanel } from "./preflight-panel";
import { ProgressPanel } from "./progress-panel";
import { ResultsPanel } from "./results-panel";
import { CampaignBadge } from "../../../components/runs/campaign-badge";
import {
  describeBreaker,
  describeDestinations,
  describeHours,
  describeRetries,
  describeVoicemail,
} from "../rules/rule-descriptions";

const Timeline = lazy(() => import("./timeline-panel"));

export function CampaignPage() {
  const { campaignId } = useParams({ from: "/signed-in/campaigns/$campaignId" });
  const campaign = useCampaign(campaignId);
  usePageTitle(campaign.data?.name ?? "Campaign");
  if (campaign.isError && campaign.data === undefined) {
    return (
      <Page title="Campaign" back={<Back />}>
        <Problem error={campaign.error} onRetry={() => void campaign.refetch()} />
      </Page>
    );
  }
  return (
    <Loaded query={campaign} what="The campaign" height={420}>
      {(data) => <Shown campaign={data} />}
    </Loaded>
  );
}

function Back() {
  return (
    <Anchor fz="sm" c="dimmed" renderRoot={(props) => <Link to="/campaigns" {...props} />}>
      ← Campaigns
    </Anchor>
  );
}

function Shown({ campaign }: { campaign: Campaign }) {
  const progress = useLiveProgress(campaign);
  const isDraft = campaign.status === "draft";
  const isOver = campaign.status === "completed" || campaign.status === "failed";
  return (
    <Page
      title={campaign.name}
      back={<Back />}
      about={
        <Group gap="sm" mt={4}>
          <CampaignBadge status={campaign.status} />
          <Anchor
            fz="sm"
            renderRoot={(props) => <Link to="/agents/$agentId" params={{ agentId: campaign.workflow_id }} {...props} />}
          >
            {campaign.workflow_name}
          </Anchor>
          <Text span fz="sm">
            Created {formatDateTime(campaign.created_at)}
          </Text>
        </Group>
      }
      actions={<Actions campaign={campaign} />}
    >
      <Stack gap="lg">
        {campaign.failure_reason && (
          <Alert
            color={campaign.status === "failed" ? "red" : "yellow"}
            variant="light"
            title={campaign.status === "failed" ? "Campaign failed" : "Paused automatically"}
          >
            {humanize(campaign.failure_reason)}
          </Alert>
        )}
        {campaign.status === "running" && campaign.next_open_at && (
          <Alert variant="light" color="blue" title="Outside calling hours">
            Dialing resumes {formatDateTime(campaign.next_open_at)}.
          </Alert>
        )}
        {isDraft && <ScheduledStart campaign={campaign} />}
        {!isOver && <AccountAlert id={campaign.telephony_configuration_id} />}
        {isDraft ? <PreflightPanel campaign={campaign} /> : <ProgressPanel campaign={campaign} progress={progress} />}
        {!isDraft && <ResultsPanel campaign={campaign} done={progress.completed} />}
        {!isDraft && (
          <Suspense fallback={null}>
            <Timeline campaign={campaign} done={progress.completed} />
          </Suspense>
        )}
        <ContactsPanel campaign={campaign} />
        <RulesPanel campaign={campaign} />
      </Stack>
    </Page>
  );
}

function RulesPanel({ campaign }: { campaign: Campaign }) {
  const capped = campaign.effective_max_concurrency < campaign.max_concurrency;
  return (
    <Panel title="Rules">
      <div className={classes.facts}>
        <AccountFact id={campaign.telephony_configuration_id} />
        <Fact name="Calling hours" value={describeHours(campaign.calling_hours)} />
        <Fact
          name="Concurrency"
          value={
            capped
              ? `${campaign.effective_max_concurrency}, limited by your plan and numbers (requested: ${campaign.max_concurrency})`
              : campaign.max_concurrency
          }
        />
        <Fact name="Retries" value={describeRetries(campaign.retry_config)} />
        <Fact name="Destinations" value={describeDestinations(campaign.destinations)} />
        <Fact
          name="Spend limit"
          value={campaign.spend_cap_cents === null ? "No limit" : formatMoney(campaign.spend_cap_cents)}
        />
        <Fact name="Pauses automatically" value={describeBreaker(campaign.circuit_breaker)} />
        <Fact name="Voicemail" value={describeVoicemail(campaign.voicemail)} />
        {campaign.columns.length > 0 && <Fact name="Columns" value={campaign.columns.join(", ")} />}
      </div>
    </Panel>
  );
}
