/** Something to copy; a secret that is shown this once. */

import { ActionIcon, Alert, Code, Group, Stack, Text, Tooltip } from "@mantine/core";
import { Copy } from "lucide-react";
import { humanize } from "../../lib/format/format";
import { copyToClipboard } from "../../lib/ui/clipboard";

export function CopyLine({ value, label }: { value: string; label: string }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Code fz="sm" px="sm" py={8} style={{ flex: 1, overflowWrap: "anywhere", userSelect: "all" }}>
        {value}
      </Code>
      <Tooltip label="Copy">
        <ActionIcon
          variant="default"
          size="lg"
          onClick={() => void copyToClipboard(value, humanize(label))}
          aria-label={`Copy ${label}`}
        >
          <Copy size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}

export function SecretOnce({ value, label, hint }: { value: string; label: string; hint: string }) {
  return (
    <Alert color="yellow" variant="light" title={`Copy the ${label} now`}>
      <Stack gap="xs">
        <Text fz="sm">{hint}</Text>
        <CopyLine value={value} label={label} />
      </Stack>
    </Alert>
  );
}
