/** Shows when a draft starts on its own, or why it did not, and lets people change that. */

import { Alert, Button, Group, Text } from "@mantine/core";
import { CalendarClock } from "lucide-react";
import { useState } from "react";
import { FormDialog } from "../../../components/forms/dialog";
import { fieldErrors, formError } from "../../../lib/api/errors";
import { humanize } from "../../../lib/format/format";
import { zoneName } from "../../../lib/format/time-zones";
import { formatInZone, wallTimeIn } from "../../../lib/format/zoned-time";
import { usePermissions } from "../../../lib/organization/organization-context";
import { notifyError, notifySuccess } from "../../../lib/ui/notifications";
import { useClickGuard } from "../../../lib/ui/use-click-guard";
import { type Campaign, useUpdateCampaign } from "../api";
import { StartFields } from "./start-fields";
import { firstStart, startProblem, startsAtOf, useStartZone } from "./start-time";

const FIELDS = ["starts_at"] as const;
const LABELS = { starts_at: "Start" };

/** Shows nothing for a draft without a scheduled start. */
export function ScheduledStart({ campaign }: { campaign: Campaign }) {
  const zone = useStartZone(campaign.calling_hours?.timezone);
  const permissions = usePermissions();
  const update = useUpdateCampaign(campaign.id);
  const clicks = useClickGuard(!update.isPending);
  const [isChanging, setIsChanging] = useState(false);
  const startsAt = campaign.starts_at ?? null;
  const problem = campaign.start_problem ?? null;
  if (startsAt === null) return null;
  const time = `${formatInZone(startsAt, zone)} (${zoneName(zone)})`;
  const clear = () =>
    update.mutate(
      { starts_at: null },
      { onSuccess: () => notifySuccess("Scheduled start removed."), onError: notifyError },
    );
  return (
    <Alert
      variant="light"
      color={problem === null ? "blue" : "yellow"}
      icon={<CalendarClock size={18} />}
      title={problem === null ? `Starts ${time}` : `Did not start ${time}`}
    >
      {problem !== null && <Text fz="sm">{humanize(problem)}</Text>}
      {permissions.write && (
        <Group gap="sm" mt={problem === null ? 0 : "sm"}>
          <Button size="xs" variant="default" onClick={() => setIsChanging(true)}>
            {problem === null ? "Change start" : "Set another time"}
          </Button>
          <Button size="xs" variant="subtle" loading={update.isPending} onClick={() => clicks.run(clear)}>
            {problem === null ? "Cancel start" : "Dismiss"}
          </Button>
        </Group>
      )}
      {isChanging && <StartDialog campaign={campaign} zone={zone} onClose={() => setIsChanging(false)} />}
    </Alert>
  );
}

/** Shown on drafts without a scheduled start. */
export function StartLater({ campaign }: { campaign: Campaign }) {
  const zone = useStartZone(campaign.calling_hours?.timezone);
  const [isAsking, setIsAsking] = useState(false);
  if (campaign.starts_at) return null;
  return (
    <>
      <Button size="md" variant="default" leftSection={<CalendarClock size={17} />} onClick={() => setIsAsking(true)}>
        Start later
      </Button>
      {isAsking && <StartDialog campaign={campaign} zone={zone} onClose={() => setIsAsking(false)} />}
    </>
  );
}

function StartDialog({ campaign, zone, onClose }: { campaign: Campaign; zone: string; onClose: () => void }) {
  const isSet = campaign.starts_at != null && campaign.start_problem == null;
  const [start, setStart] = useState(() =>
    isSet && campaign.starts_at ? wallTimeIn(new Date(campaign.starts_at), zone) : firstStart(zone),
  );
  const update = useUpdateCampaign(campaign.id);
  const errors: Partial<Record<string, string>> = fieldErrors(update.error, FIELDS, LABELS);
  const save = () =>
    update.mutate(
      { starts_at: startsAtOf(start, zone) },
      {
        onSuccess: () => {
          notifySuccess("Start time saved.");
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title="Schedule the start"
      isOpen
      onClose={onClose}
      onSubmit={save}
      submit="Save"
      isBusy={update.isPending}
      isDisabled={startProblem(start, zone) !== null}
      problem={formError(update.error, FIELDS, LABELS)}
    >
      <StartFields start={start} zone={zone} onChange={setStart} error={errors["starts_at"]} />
    </FormDialog>
  );
}
