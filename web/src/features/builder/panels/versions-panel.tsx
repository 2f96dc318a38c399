/** Every version of the agent: what it changed, and the way back to it. */

import { Badge, Button, Group, Modal, Select, Skeleton, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Problem } from "../../../components/feedback/problem";
import { diff } from "../../../graph/diff";
import { pluralize, formatTimeAgo } from "../../../lib/format/format";
import { useRestore, useVersions } from "../api";
import { CanaryPanel } from "../canary/canary-panel";
import { ChangeList } from "./change-list";
import { useEditorContext } from "../state/editor";
import { type Version, versionContent } from "./version-content";
import classes from "./versions.module.css";

export function VersionsPanel() {
  const { agent } = useEditorContext();
  const versions = useVersions(agent.id);
  const [shown, setShown] = useState<Version | null>(null);
  const [other, setOther] = useState<string | null>(null);
  if (versions.isPending) return <Skeleton h={220} m="md" />;
  if (versions.isError)
    return (
      <Problem
        title="The versions could not be loaded"
        error={versions.error}
        onRetry={() => void versions.refetch()}
      />
    );
  const previous =
    shown === null ? undefined : versions.data.find((version) => version.version_number < shown.version_number);
  const before = other === null ? previous : versions.data.find((version) => String(version.version_number) === other);
  const show = (version: Version) => {
    setOther(null);
    setShown(version);
  };
  return (
    <>
      <CanaryPanel />
      <ol className={classes.list}>
        {versions.data.map((version, index) => (
          <Row key={version.id} version={version} before={versions.data[index + 1]} onShow={() => show(version)} />
        ))}
      </ol>
      <Modal
        opened={shown !== null}
        onClose={() => setShown(null)}
        size="xl"
        radius="lg"
        title={shown === null ? "" : `Version ${shown.version_number}`}
      >
        {shown !== null && (
          <Stack>
            {versions.data.length > 1 && (
              <Select
                label="Compare with"
                maw={240}
                size="sm"
                placeholder="Nothing (show everything)"
                data={versions.data
                  .filter((version) => version !== shown)
                  .map((version) => ({ value: String(version.version_number), label: nameOf(version) }))}
                value={before === undefined ? null : String(before.version_number)}
                allowDeselect={false}
                onChange={setOther}
              />
            )}
            <ChangeList changes={diff(versionContent(before), versionContent(shown))} />
          </Stack>
        )}
      </Modal>
    </>
  );
}

function nameOf({ version_number: number, status }: Version): string {
  return ["draft", "published", "canary"].includes(status) ? `v${number}, ${status}` : `v${number}`;
}

function Row({ version, before, onShow }: { version: Version; before: Version | undefined; onShow: () => void }) {
  const { agent, canEdit, flush, reload } = useEditorContext();
  const restore = useRestore(agent.id);
  const [isAsking, setIsAsking] = useState(false);
  const count = diff(versionContent(before), versionContent(version)).length;
  // What is published and has no draft beside it is what the editor has already.
  const isRestorable = version.status !== "draft" && (version.status !== "published" || agent.has_draft);
  const shown = before === undefined ? "Show" : count === 0 ? "No changes" : pluralize(count, "change");
  const named =
    before === undefined ? `Show version ${version.version_number}` : `${shown} in version ${version.version_number}`;
  const go = async () => {
    await flush().catch(() => undefined);
    await restore.mutateAsync(version.version_number);
    await reload();
    setIsAsking(false);
  };
  return (
    <li className={classes.row}>
      <Group justify="space-between" wrap="nowrap">
        <Group gap={8}>
          <Text fw={600}>v{version.version_number}</Text>
          <State status={version.status} />
        </Group>
        <Text fz="xs" c="dimmed" ta="right">
          {[version.author?.name, formatTimeAgo(version.published_at ?? version.created_at)]
            .filter((part) => part !== undefined)
            .join(" · ")}
        </Text>
      </Group>
      {version.note && <Text fz="sm">{version.note}</Text>}
      <Group gap={8} mt={8}>
        <Button size="compact-sm" variant="default" aria-label={named} onClick={onShow}>
          {shown}
        </Button>
        {canEdit && isRestorable && (
          <Button
            size="compact-sm"
            variant="subtle"
            aria-label={`Restore version ${version.version_number}`}
            onClick={() => setIsAsking(true)}
          >
            Restore
          </Button>
        )}
      </Group>
      <Modal
        opened={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Restore version ${version.version_number}?`}
        centered
        radius="lg"
      >
        <Stack>
          <Text fz="sm">Its content replaces the current draft. Calls are not affected until you publish.</Text>
          {restore.isError && <Problem error={restore.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setIsAsking(false)}>
              Cancel
            </Button>
            <Button loading={restore.isPending} onClick={() => void go().catch(() => undefined)}>
              Restore
            </Button>
          </Group>
        </Stack>
      </Modal>
    </li>
  );
}

function State({ status }: { status: string }) {
  if (status === "draft")
    return (
      <Badge size="sm" color="orange" c="var(--draft)" variant="light" tt="none">
        Draft
      </Badge>
    );
  if (status === "published" || status === "canary")
    return (
      <Badge size="sm" variant="light" tt="none">
        {status === "canary" ? "Canary" : "Published"}
      </Badge>
    );
  return (
    <Badge size="sm" color="gray" variant="light" tt="none">
      Previous
    </Badge>
  );
}
