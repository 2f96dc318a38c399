/** Something to copy; a secret that is shown this once. */

import { ActionIcon, Alert, Code, CopyButton, Group, Stack, Text, Tooltip } from "@mantine/core";
import { Check, Copy } from "lucide-react";

export function CopyLine({ value, label }: { value: string; label: string }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Code fz="sm" px="sm" py={8} style={{ flex: 1, overflowWrap: "anywhere", userSelect: "all" }}>
        {value}
      </Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? "Copied" : "Copy"}>
            <ActionIcon variant="default" size="lg" onClick={copy} aria-label={copied ? `${label}: copied` : `Copy ${label}`}>
              {copied ? <Check size={16} /> : <Copy size={16} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
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
