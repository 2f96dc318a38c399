/** The packs that can be used, and who uses them. */

import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Confirm } from "../../../../components/forms/dialog";
import { usePermissions } from "../../../../lib/organization/organization-context";
import { formatDateTime, formatFileSize } from "../../../../lib/format/format";
import { notifySuccess } from "../../../../lib/ui/notifications";
import { type InstalledPack, useRemovePack } from "./api";
import { describeContent, describeUse } from "./pack-words";

interface InstalledPacksProps {
  packs: InstalledPack[];
  /** While a pack is installed, none can be removed. */
  isBusy: boolean;
  onUse: (pack: InstalledPack) => void;
}

export function InstalledPacks({ packs, isBusy, onUse }: InstalledPacksProps) {
  const [removed, setRemoved] = useState<InstalledPack | null>(null);
  if (packs.length === 0)
    return (
      <Text fz="sm" c="dimmed">
        No voice pack is installed yet.
      </Text>
    );
  return (
    <Stack gap="md" component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-label="Installed voice packs">
      {packs.map((pack) => (
        <PackRow key={pack.name} pack={pack} isBusy={isBusy} onUse={onUse} onRemove={() => setRemoved(pack)} />
      ))}
      {removed && <RemoveQuestion pack={removed} onClose={() => setRemoved(null)} />}
    </Stack>
  );
}

interface PackRowProps {
  pack: InstalledPack;
  isBusy: boolean;
  onUse: (pack: InstalledPack) => void;
  onRemove: () => void;
}

function PackRow({ pack, isBusy, onUse, onRemove }: PackRowProps) {
  const permissions = usePermissions();
  const use = describeUse(pack);
  return (
    <Group component="li" justify="space-between" gap="sm" align="flex-start">
      <Stack gap={2} miw={0}>
        <Group gap="xs">
          <Text fw={600}>{pack.title}</Text>
          <Badge color={use === null ? "gray" : "brand"}>{use ?? "Not in use"}</Badge>
        </Group>
        <Text fz="sm" c="dimmed">
          {describeContent(pack)}
        </Text>
        <Text fz="xs" c="dimmed">
          Installed {formatDateTime(pack.installed_at)} · hash{" "}
          <span title={pack.digest}>{pack.digest.slice(0, 12)}</span>
        </Text>
      </Stack>
      <Group gap="xs">
        {permissions.admin && (
          <Button size="compact-sm" variant="light" onClick={() => onUse(pack)} aria-label={`Use ${pack.title}`}>
            Use
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="subtle"
          color="red"
          disabled={isBusy}
          onClick={onRemove}
          aria-label={`Remove ${pack.title}`}
        >
          Remove
        </Button>
      </Group>
    </Group>
  );
}

function RemoveQuestion({ pack, onClose }: { pack: InstalledPack; onClose: () => void }) {
  const remove = useRemovePack();
  const use = describeUse(pack);
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Remove ${pack.title}?`}
      confirm="Remove"
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(
          { name: pack.name, isUnfinishedOnly: false },
          {
            onSuccess: ({ freed_bytes }) => {
              notifySuccess(`Removed ${pack.title}. Freed ${formatFileSize(freed_bytes)}.`);
              onClose();
            },
          },
        )
      }
    >
      {use !== null && `${use}. `}
      Calls in progress keep it. New calls that would have used it use their fallbacks, then the built-in models.
    </Confirm>
  );
}
