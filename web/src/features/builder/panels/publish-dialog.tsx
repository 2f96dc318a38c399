/** The last look before a draft answers calls: what changes, and a note for those who read the versions later. */

import { Checkbox, Skeleton, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { Problem } from "../../../components/feedback/problem";
import { FormDialog } from "../../../components/forms/dialog";
import { ApiError, messageOf } from "../../../lib/api/errors";
import { diff } from "../../../graph/diff";
import { countSteps } from "../../../graph/specs";
import { pluralize } from "../../../lib/format/format";
import { notifySuccess } from "../../../lib/ui/notifications";
import { usePublish, useVersions } from "../api";
import { useStartCanary } from "../canary/api";
import { isShare, ShareField } from "../canary/share-field";
import { usePermissions } from "../../../lib/organization/organization-context";
import { usePublishGate } from "../scenarios/api";
import { GateVerdict } from "../scenarios/gate-verdict";
import { useEditorContext } from "../state/editor";
import { ChangeList } from "./change-list";
import { versionContent } from "./version-content";
import classes from "./versions.module.css";

const MAX_NOTE_CHARS = 500;
const GATE_CODES = ["publish_not_tested", "publish_gate_failed", "gate_override_forbidden"];

interface PublishDialogProps {
  onClose: () => void;
  onRefused: (error: unknown) => void;
}

export function PublishDialog({ onClose, onRefused }: PublishDialogProps) {
  const { agent, flush } = useEditorContext();
  const publish = usePublish(agent.id);
  const canary = useStartCanary(agent.id);
  const versions = useVersions(agent.id);
  const [share, setShare] = useState<number | null>(null);
  const [note, setNote] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const [override, setOverride] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const gate = usePublishGate(agent.id);
  const isStopped = gate.data?.is_required === true && !gate.data.may_publish;
  const reason = isStopped ? (override ?? "").trim() : "";
  const isPublished = versions.data?.some((version) => version.status === "published") === true;
  const submit = async () => {
    setIsBusy(true);
    setFailure(null);
    try {
      const asked = { revision: await flush(), note: note.trim(), override: reason };
      if (share === null) {
        const { version_number: number } = await publish.mutateAsync(asked);
        notifySuccess(`Version ${number} is published. New calls use it.`);
      } else {
        const { version_number: number } = await canary.mutateAsync({ ...asked, share });
        notifySuccess(`Version ${number} takes ${share}% of new calls. See Versions for its results.`);
      }
      onClose();
    } catch (error) {
      if (error instanceof ApiError && GATE_CODES.includes(error.code)) setFailure(messageOf(error));
      else onRefused(error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <FormDialog
      title={`Publish version ${agent.version_number}?`}
      isOpen
      onClose={onClose}
      onSubmit={() => void submit()}
      submit={
        share !== null
          ? `Try on ${isShare(share) ? `${share}%` : "a share"} of calls`
          : isStopped && override !== null
            ? "Publish anyway"
            : "Publish"
      }
      isBusy={isBusy}
      isDisabled={(isStopped && reason === "") || !isShare(share)}
      problem={failure}
      size="lg"
    >
      <Changes />
      <GateVerdict />
      {isStopped && <Override reason={override} onChange={setOverride} />}
      <Textarea
        label="Note"
        description="Optional. Shown in the list of versions."
        placeholder="Shorter greeting"
        autosize
        minRows={1}
        maxRows={4}
        maxLength={MAX_NOTE_CHARS}
        data-autofocus
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      {isPublished && <ShareField share={share} onChange={setShare} />}
    </FormDialog>
  );
}

interface OverrideProps {
  /** Null until somebody means to publish all the same. */
  reason: string | null;
  onChange: (reason: string | null) => void;
}

/** An admin publishes a draft that did not pass, and says why. */
function Override({ reason, onChange }: OverrideProps) {
  const { admin } = usePermissions();
  if (!admin)
    return (
      <Text fz="sm" c="dimmed">
        An admin can publish it anyway, with a reason.
      </Text>
    );
  return (
    <>
      <Checkbox
        label="Publish anyway"
        checked={reason !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? "" : null)}
      />
      {reason !== null && (
        <Textarea
          label="Reason"
          description="Recorded in the audit log with your name."
          required
          autosize
          minRows={1}
          maxLength={MAX_NOTE_CHARS}
          value={reason}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </>
  );
}

function Changes() {
  const { agent, document, specs } = useEditorContext();
  const versions = useVersions(agent.id);
  if (versions.isPending) return <Skeleton h={120} />;
  if (versions.isError)
    return (
      <Problem title="The changes could not be loaded" error={versions.error} onRetry={() => void versions.refetch()} />
    );
  const published = versions.data.find((version) => version.status === "published");
  const steps = countSteps(specs, document.definition);
  if (published === undefined)
    return (
      <Text fz="sm">
        The first published version, with {pluralize(steps, "step")} and{" "}
        {pluralize(document.definition.edges.length, "transition")}. Phone numbers, campaigns, and triggers of this
        agent start using it.
      </Text>
    );
  const draft = versions.data.find((version) => version.status === "draft");
  const changes = diff(versionContent(published), versionContent(draft));
  return (
    <div role="region" aria-label="Changes" className={classes.changes} tabIndex={0}>
      <Text fz="sm" mb="xs">
        {changes.length === 0 ? "No changes" : pluralize(changes.length, "change")} since version{" "}
        {published.version_number}. Calls in progress keep the version they started with.
      </Text>
      <ChangeList changes={changes} />
    </div>
  );
}
