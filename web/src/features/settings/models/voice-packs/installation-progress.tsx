/** The installation that runs, why the last one failed, and what waits to be finished. */

import { Alert, Button, Group, Progress, Stack, Text } from "@mantine/core";
import { formatFileSize } from "../../../../lib/format/format";
import type { Schema } from "../../../../lib/api/types";
import { notifyError } from "../../../../lib/ui/notifications";
import { type Packs, useCancelInstallation, useInstall, useRemovePack } from "./api";

export function InstallationProgress({ found }: { found: Packs }) {
  const { installation } = found;
  if (installation?.state === "running") return <Running installation={installation} />;
  return (
    <>
      {installation?.state === "failed" && (
        <Alert color="red" variant="light" role="alert" title={`${installation.title} was not installed`}>
          {installation.message}
        </Alert>
      )}
      {found.unfinished.map((part) => (
        <Unfinished key={part.name} part={part} />
      ))}
    </>
  );
}

function Running({ installation }: { installation: Schema<"PackInstallationItem"> }) {
  const cancel = useCancelInstallation();
  const percent = Math.floor((100 * installation.done_bytes) / Math.max(installation.size_bytes, 1));
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="sm">
        <Text fw={600}>Installing {installation.title}</Text>
        <Button
          size="compact-sm"
          variant="default"
          loading={cancel.isPending}
          onClick={() => cancel.mutate(null, { onError: notifyError })}
        >
          Cancel
        </Button>
      </Group>
      <Progress.Root size="lg">
        <Progress.Section value={percent} aria-label={`Installing ${installation.title}`} />
      </Progress.Root>
      <Text fz="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
        {percent}% · {formatFileSize(installation.done_bytes)} of {formatFileSize(installation.size_bytes)}
        {installation.file !== "" && ` · ${installation.file}`}. You can close this page.
      </Text>
    </Stack>
  );
}

function Unfinished({ part }: { part: Schema<"UnfinishedPackItem"> }) {
  const install = useInstall();
  const discard = useRemovePack();
  const fetched = formatFileSize(part.fetched_bytes);
  return (
    <Group justify="space-between" gap="sm">
      <div>
        <Text fw={600}>{part.title}</Text>
        <Text fz="sm" c="dimmed">
          Unfinished: {part.size_bytes === null ? fetched : `${fetched} of ${formatFileSize(part.size_bytes)}`} on disk
        </Text>
      </div>
      <Group gap="xs">
        <Button
          size="compact-sm"
          loading={install.isPending}
          onClick={() => install.mutate(null, { onError: notifyError })}
          aria-label={`Resume ${part.title}`}
        >
          Resume
        </Button>
        <Button
          size="compact-sm"
          variant="subtle"
          color="red"
          loading={discard.isPending}
          onClick={() => discard.mutate({ name: part.name, isUnfinishedOnly: true }, { onError: notifyError })}
          aria-label={`Discard ${part.title}`}
        >
          Discard
        </Button>
      </Group>
    </Group>
  );
}
