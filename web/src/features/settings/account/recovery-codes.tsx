/** Recovery codes, shown this once. */

import { Alert, Button, Code, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { copyToClipboard } from "../../../lib/ui/clipboard";

export function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  return (
    <Alert color="yellow" variant="light" title="Save your recovery codes now">
      <Stack gap="sm">
        <Text fz="sm">
          Each code signs you in once if you lose your device. Keep them where you keep your passwords: they are not
          shown again.
        </Text>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" component="ul" m={0} p={0} style={{ listStyle: "none" }}>
          {codes.map((code) => (
            <li key={code}>
              <Code fz="sm">{code}</Code>
            </li>
          ))}
        </SimpleGrid>
        <Group gap="sm">
          <Button variant="default" onClick={() => void copyToClipboard(codes.join("\n"), "Recovery codes")}>
            Copy all
          </Button>
          <Button onClick={onDone}>I saved them</Button>
        </Group>
      </Stack>
    </Alert>
  );
}
