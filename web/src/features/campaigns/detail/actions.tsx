/** What may be done with a campaign in its state, by this role. */

import { Button, Checkbox, Group, Menu, Stack, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis, Pause, Play, RotateCcw } from "lucide-react";
import { useState } from "react";
import { Dialog, FormDialog, FormProblem } from "../../../components/forms/dialog";
import { localPath } from "../../../lib/api/address";
import { usePermissions } from "../../../lib/organization/organization-context";
import { downloadFile } from "../../../lib/api/download";
import { fieldErrors, formError } from "../../../lib/api/errors";
import { useForm } from "../../../lib/ui/use-form";
import { humanize } from "../../../lib/format/format";
import { notifySuccess, notifyError } from "../../../lib/ui/notifications";
import { useClickGuard } from "../../../lib/ui/use-click-guard";
import { type Campaign, type Outcome, sourceAddress, useMove, useRedial, useUpdateCampaign } from "../api";
import { changedOf, problemOf, RULE_FIELDS, RULE_LABELS, rulesOf } from "../rules/draft";
import { RulesForm } from "../rules/rules-form";
import { DeleteCampaign, DeleteContacts } from "./deletion";

export function Actions({ campaign }: { campaign: Campaign }) {
  const permissions = usePermissions();
  const move = useMove(campaign.id);
  const clicks = useClickGuard();
  const [dialog, setDialog] = useState<"redial" | "rules" | "delete" | "contacts" | null>(null);
  const { status } = campaign;
  const isOver = status === "completed" || status === "failed";
  const report = () =>
    downloadFile(`/api/v1/campaign/${campaign.id}/report`, `campaign-${campaign.id}-report.csv`).catch(notifyError);
  const source = async () => window.location.assign(localPath(await sourceAddress(campaign.id), window.location.href));
  return (
    <>
      {permissions.write && status === "running" && (
        <Button
          variant="default"
          leftSection={<Pause size={16} />}
          loading={move.isPending}
          onClick={() => clicks.run(() => move.mutate("pause", { onError: notifyError }), "pause")}
        >
          Pause
        </Button>
      )}
      {permissions.write && status === "paused" && (
        <Button
          leftSection={<Play size={16} />}
          loading={move.isPending}
          onClick={() => clicks.run(() => move.mutate("resume", { onError: notifyError }), "resume")}
        >
          Resume
        </Button>
      )}
      {permissions.write && (isOver || status === "paused") && (
        <Button variant="default" leftSection={<RotateCcw size={16} />} onClick={() => setDialog("redial")}>
          Redial
        </Button>
      )}
      {status !== "draft" && (
        <Button variant="default" onClick={() => void report()}>
          Download report
        </Button>
      )}
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Button variant="default" px={10} aria-label="More actions">
            <Ellipsis size={18} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {permissions.write && !isOver && <Menu.Item onClick={() => setDialog("rules")}>Edit rules</Menu.Item>}
          <Menu.Item onClick={() => void source().catch(notifyError)}>Download contacts</Menu.Item>
          {permissions.admin && isOver && <Menu.Item onClick={() => setDialog("contacts")}>Delete contacts</Menu.Item>}
          {permissions.admin && (
            <Menu.Item color="var(--bad)" disabled={status === "running"} onClick={() => setDialog("delete")}>
              Delete campaign
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {dialog === "redial" && <Redial campaign={campaign} onClose={() => setDialog(null)} />}
      {dialog === "delete" && <DeleteCampaign campaign={campaign} onClose={() => setDialog(null)} />}
      {dialog === "contacts" && <DeleteContacts campaign={campaign} onClose={() => setDialog(null)} />}
      {dialog === "rules" && <ChangeRules campaign={campaign} onClose={() => setDialog(null)} />}
    </>
  );
}

const AGAIN: Outcome[] = [
  "not_understood",
  "interrupted_by_us",
  "no_answer",
  "busy",
  "voicemail",
  "failed",
  "canceled",
];

export function Redial({ campaign, onClose }: { campaign: Campaign; onClose: () => void }) {
  const redial = useRedial(campaign.id);
  const navigate = useNavigate();
  const form = useForm<{ name: string; redial_statuses: Outcome[] }>(
    { name: `${campaign.name} (redial)`, redial_statuses: ["no_answer", "busy", "voicemail"] },
    redial.error,
    { labels: { redial_statuses: "Outcomes to redial" } },
  );
  const submit = () =>
    redial.mutate(form.values, {
      onSuccess: (made) => void navigate({ to: "/campaigns/$campaignId", params: { campaignId: made.id } }),
    });
  return (
    <FormDialog
      title="Redial unreached contacts"
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Create campaign"
      isBusy={redial.isPending}
      problem={form.problem}
    >
      <TextInput label="Name" required data-autofocus {...form.text("name")} />
      <Checkbox.Group label="Outcomes to redial" {...form.field("redial_statuses")}>
        <Stack gap={8} mt={8}>
          {AGAIN.map((outcome) => (
            <Checkbox
              key={outcome}
              value={outcome}
              label={`${humanize(outcome)} (${campaign.progress.outcomes[outcome] ?? 0})`}
            />
          ))}
        </Stack>
      </Checkbox.Group>
    </FormDialog>
  );
}

function ChangeRules({ campaign, onClose }: { campaign: Campaign; onClose: () => void }) {
  const [{ rules: first, isExact }] = useState(() => rulesOf(campaign));
  const [rules, setRules] = useState(first);
  const update = useUpdateCampaign(campaign.id);
  const errors: Partial<Record<string, string>> = fieldErrors(update.error, RULE_FIELDS, RULE_LABELS);
  const save = () =>
    update.mutate(changedOf(rules, campaign), {
      onSuccess: () => {
        notifySuccess("Rules saved.");
        onClose();
      },
    });
  return (
    <Dialog isOpen onClose={onClose} title="Edit rules" size={860}>
      <Stack>
        {!isExact && (
          <FormProblem words="These hours are set to the minute, which the grid cannot show. Editing the grid replaces them." />
        )}
        <RulesForm rules={rules} onChange={setRules} errorAt={(name) => errors[name]} />
        <FormProblem words={problemOf(rules) ?? formError(update.error, RULE_FIELDS, RULE_LABELS)} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button onClick={save} loading={update.isPending} disabled={problemOf(rules) !== null}>
            Save
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
