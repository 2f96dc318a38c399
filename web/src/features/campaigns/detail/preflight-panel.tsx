/** What a start would do now, before anybody is called. */

import { Alert, Badge, Button, Group, List, Stack, Text } from "@mantine/core";
import { Play } from "lucide-react";
import { FormProblem } from "../../../components/forms/dialog";
import { Figure, Figures } from "../../../components/layout/fact";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { usePermissions } from "../../../lib/organization/organization-context";
import { messageOf } from "../../../lib/api/errors";
import { formatCount, formatDateTime, pluralize } from "../../../lib/format/format";
import { useClickGuard } from "../../../lib/ui/use-click-guard";
import type { Schema } from "../../../lib/api/types";
import { type Campaign, useMove, usePreflight } from "../api";

export function PreflightPanel({ campaign }: { campaign: Campaign }) {
  const report = usePreflight(campaign.id, true);
  const permissions = usePermissions();
  const move = useMove(campaign.id);
  const guardClick = useClickGuard();
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
                name="Estimated duration"
                value={data.callable_contacts === 0 ? "–" : span(data.estimated_dialling_seconds)}
                note={
                  data.callable_contacts > 0 && data.estimated_end_at
                    ? `until ${formatDateTime(data.estimated_end_at)}`
                    : undefined
                }
              />
              <Figure name="Outside hours" value={formatCount(data.closed_now)} note="right now" />
              <Figure name="Do not call" value={formatCount(data.on_do_not_call_list)} note="never dialed" />
            </Figures>
            <Warnings report={data} />
            <Zones zones={data.contacts_by_zone} />
            <FormProblem words={move.error ? messageOf(move.error) : null} />
            {permissions.write && (
              <Group>
                <Button
                  size="md"
                  leftSection={<Play size={17} />}
                  loading={move.isPending}
                  disabled={data.callable_contacts === 0}
                  onClick={() => guardClick(() => move.mutate("start"))}
                >
                  Start dialing
                </Button>
                {data.callable_contacts === 0 && (
                  <Text fz="sm" c="dimmed">
                    No contact on this list can be called. Edit the rules, or create a campaign with another list.
                  </Text>
                )}
              </Group>
            )}
          </Stack>
        )}
      </Loaded>
    </Panel>
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
            {zone.zone === "unknown" ? "Unknown" : zone.zone.replaceAll("_", " ")} · {formatCount(zone.contacts)}
          </Badge>
        ))}
      </Group>
    </div>
  );
}

function span(seconds: number | null): string {
  if (seconds === null) return "–";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
