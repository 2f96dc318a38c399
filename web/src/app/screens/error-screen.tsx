/** Shown in place of a page that failed: what to do, and the message for the operator. */

import { Button, Center, Group, Stack, Text, Title } from "@mantine/core";
import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { messageOf } from "../../lib/api/errors";
import { usePageTitle } from "../../lib/ui/use-page-title";

export function ErrorScreen({ error }: ErrorComponentProps) {
  usePageTitle("Page failed to load");
  return (
    <Center mih="70vh" px="md">
      <Stack align="center" gap="xs" role="alert">
        <Title order={1} fz="xl" ta="center">
          This page failed to load
        </Title>
        <Text c="dimmed" ta="center">
          The server was probably stopped or updated. Reload the page. Your saved changes are safe.
        </Text>
        <Text c="dimmed" fz="xs" ta="center" style={{ overflowWrap: "anywhere" }}>
          {messageOf(error)}
        </Text>
        <Group mt="md" justify="center">
          <Button onClick={() => window.location.reload()}>Reload</Button>
          <Button variant="default" renderRoot={(props) => <Link to="/" {...props} />}>
            All agents
          </Button>
        </Group>
      </Stack>
    </Center>
  );
}
