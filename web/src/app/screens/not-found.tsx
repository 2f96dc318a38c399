/** Shown for an address without a page. */

import { Button, Center, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { usePageTitle } from "../../lib/ui/use-page-title";

export function NotFound() {
  usePageTitle("Page not found");
  return (
    <Center mih="70vh" px="md">
      <Stack align="center" gap="xs">
        <Title order={1} fz="xl">
          Page not found
        </Title>
        <Text c="dimmed" ta="center">
          This page does not exist or belongs to another organization.
        </Text>
        <Button mt="md" renderRoot={(props) => <Link to="/" {...props} />}>
          All agents
        </Button>
      </Stack>
    </Center>
  );
}
