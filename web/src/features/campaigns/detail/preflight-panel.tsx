/** What a start would do now, before anybody is called. */

import { Alert, Badge, Button, Group, List, Stack, Text } from "@mantine/core";
import { Play } from "lucide-react";
import { useState } from "react";
import { Confirm } from "../../../components/forms/dialog";
import { Figure, Figures } from "../../../components/layout/fact";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { usePermissions } from "../../../lib/organization/organization-context";
import { formatCount, formatDateTime, formatMoney, pluralize } from "../../../lib/format/format";
import { zoneName } from "../../../lib/format/time-zones";
import type { Schema } from "../../../lib/api/types";
import { type Campaign, useMove, usePreflight } from "../api";
import { CallMeFirst } from "./call-me-first";
import { describeHours } from "../rules/rule-descriptions";
import { StartLater } from "../start/scheduled-start";

export function PreflightPanel({ campaign }: { campaign: Campaign }) {
  const report = usePreflight(campaign.id, true);
  const permissions = usePermissions();
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Panel
      title="Dry run"
      right={
        <Button size="xs" variant="subtle" onClick={() => void report.refetch()} loading={report.isFetching}>
          Refresh
        </Button>
      }
    >
      <Loaded query={report} what="The dry run" height={220}>
        {(data) => (
          <Stack p="lg" gap="lg">
            <Figures>
              <Figure
                name="To be called"
                value={formatCount(data.callable_contacts)}
                note={`of ${pluralize(data.total_contacts, "contact")}`}
              />
              <Figure
                name="Estimated end"
                value={
                  data.callable_contacts > 0 && data.estimated_end_at ? formatDateTime(data.estimated_end_at) : "–"
                }
                note={
                  data.callable_contacts > 0
                    ? describeDialing(data, Math.max(report.dataUpdatedAt, Date.parse(campaign.starts_at ?? "") || 0))
                    : undefined
                }
              />
              <Figure
                name="Estimated cost"
                value={data.estimated_cost_cents === null ? "–" : formatMoney(data.estimated_cost_cents)}
                note={data.estimated_cost_cents === null ? "no past calls" : pluralize(data.estimated_calls, "call")}
              />
              <Figure name="Outside hours" value={formatCount(data.closed_now)} note="right now" />
              <Figure name="Do not call" value={formatCount(data.on_do_not_call_list)} note="never dialed" />
            </Figures>
            <Warnings report={data} />
            <Zones zones={data.contacts_by_zone} />
            {permissions.write && (
              <Group>
                <Button
                  size="md"
                  leftSection={<Play size={17} />}
                  disabled={data.callable_contacts === 0}
                  onClick={() => setIsAsking(true)}
                >
                  Start dialing
                </Button>
                <StartLater campaign={campaign} />
                <CallMeFirst campaign={campaign} />
                {data.callable_contacts === 0 && (
                  <Text fz="sm" c="dimmed">
                    No contact on this list can be called. Edit the rules, or create a campaign with another list.
                  </Text>
                )}
              </Group>
            )}
            <StartDialog campaign={campaign} report={data} isOpen={isAsking} onClose={() => setIsAsking(false)} />
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}

interface StartDialogProps {
  campaign: Campaign;
  report: Schema<"PreflightResponse">;
  isOpen: boolean;
  onClose: () => void;
}

/** Asks once, with numbers, before telephones ring. */
function StartDialog({ campaign, report, isOpen, onClose }: StartDialogProps) {
  const move = useMove(campaign.id);
  const now = report.callable_contacts - report.closed_now;
  return (
    <Confirm
      title={`Call ${pluralize(report.callable_contacts, "contact")}?`}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() => move.mutate("start", { onSuccess: onClose })}
      confirm={`Call ${pluralize(report.callable_contacts, "contact")}`}
      isBusy={move.isPending}
      error={move.error}
      isDangerous={false}
    >
      <List fz="sm" spacing={4}>
        <List.Item>
          {now === 0
            ? "No calls go out right now: it is outside calling hours."
            : `${formatCount(now)} can be called right now, up to ${formatCount(campaign.max_concurrency)} at once.`}
        </List.Item>
        {now > 0 && report.closed_now > 0 && (
          <List.Item>{formatCount(report.closed_now)} wait for their calling hours.</List.Item>
        )}
        <List.Item>
          About {pluralize(report.estimated_calls, "call")} with retries, {span(report.estimated_dialling_seconds)} of
          dialing
          {report.estimated_cost_cents === null
            ? "; the cost is not known yet"
            : `, about ${formatMoney(report.estimated_cost_cents)}`}
          .{report.is_estimate_measured ? "" : " This agent has few calls, so these are rough figures."}
        </List.Item>
        <List.Item>Calling hours: {describeHours(campaign.calling_hours)}</List.Item>
        <List.Item>You can pause at any time.</List.Item>
      </List>
    </Confirm>
  );
}

function Warnings({ report }: { report: Schema<"PreflightResponse"> }) {
  const lines = [
    report.invalid_numbers > 0 && `${pluralize(report.invalid_numbers, "invalid phone number")}.`,
    report.blocked_destinations > 0 &&
      `${pluralize(report.blocked_destinations, "number")} in a blocked country or rate class.`,
    ...report.missing_values.map(
      ({ variable, contacts }) =>
        `${pluralize(contacts, "contact")} without a value for {{${variable}}}, which the agent uses.`,
    ),
  ].filter((line) => line !== false);
  if (lines.length === 0) return null;
  return (
    <Alert color="yellow" variant="light" title="Warnings">
      <List fz="sm" spacing={2}>
        {lines.map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
    </Alert>
  );
}

function Zones({ zones }: { zones: Schema<"ZoneCount">[] }) {
  if (zones.length === 0) return null;
  return (
    <div>
      <Text fz="sm" fw={600} mb={6}>
        Contacts by time zone
      </Text>
      <Group gap={6}>
        {zones.map((zone) => (
          <Badge key={zone.zone} color="gray" size="lg">
            {zone.zone === "unknown" ? "Unknown" : zoneName(zone.zone)} · {formatCount(zone.contacts)}
          </Badge>
        ))}
      </Group>
    </div>
  );
}

/** A campaign ends later than its dialing takes where it waits for retries or calling hours. */
function describeDialing(report: Schema<"PreflightResponse">, startsAt: number): string | undefined {
  const { estimated_dialling_seconds: seconds, estimated_end_at: end } = report;
  if (seconds === null) return undefined;
  const waits = end !== null && (Date.parse(end) - startsAt) / 1000 - seconds > 60;
  return `${span(seconds)} of dialing${waits ? ", plus waits for retries and hours" : ""}`;
}

function span(seconds: number | null): string {
  if (seconds === null) return "–";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
