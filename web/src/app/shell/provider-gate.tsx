/** What one sees whose organization lets members in by its identity provider only, after signing in another way. */

import { Alert, Button, Center, Group, Stack, Title } from "@mantine/core";
import { FormProblem } from "../../components/forms/dialog";
import { Logo } from "../../components/layout/logo";
import { useProviderStart, useSignOut } from "../../features/auth";
import { messageOf } from "../../lib/api/errors";
import { usePageTitle } from "../../lib/ui/use-page-title";
import { OtherOrganizations } from "./other-organizations";

export function ProviderGate({ name }: { name: string }) {
  usePageTitle("Sign in with your organization");
  const start = useProviderStart();
  const signOut = useSignOut();
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack w={560} maw="100%" gap="lg">
        <Center>
          <Logo size={24} />
        </Center>
        <Title order={1} fz="xl">
          Sign in with your organization
        </Title>
        <Alert variant="light" role="status">
          Your organization requires signing in with its identity provider.
        </Alert>
        <FormProblem words={start.error ? messageOf(start.error) : null} />
        <Group gap="sm">
          <Button onClick={() => start.mutate({ name })} loading={start.isPending}>
            Continue as {name}
          </Button>
          <OtherOrganizations />
          <Button variant="subtle" onClick={() => signOut.mutate()}>
            Sign out
          </Button>
        </Group>
      </Stack>
    </Center>
  );
}
