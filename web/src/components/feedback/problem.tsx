/** A failure in words, with a way to try again where there is one. */

import { Alert, Button, Group, Text } from "@mantine/core";
import { messageOf } from "../../lib/api/errors";

export function Problem({ title, error, onRetry }: { title?: string; error: unknown; onRetry?: () => void }) {
  return (
    <Alert color="red" variant="light" title={title} role="alert">
      <Group justify="space-between" gap="sm">
        <Text fz="sm">{messageOf(error)}</Text>
        {onRetry && (
          <Button size="xs" variant="light" color="red" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}
