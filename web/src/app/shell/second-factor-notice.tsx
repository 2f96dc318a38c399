/** What one sees while the organization demands two-step sign-in that one does not have: a line, and later only its setup. */

import { Alert, Anchor, Button, Center, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { Logo } from "../../components/layout/logo";
import { useSignOut } from "../../features/auth";
import { formatDateTime } from "../../lib/format/format";
import { useAccount } from "../../lib/organization/organization-context";
import { usePageTitle } from "../../lib/ui/use-page-title";
import { Banner } from "./banner";
import { OtherOrganizations } from "./other-organizations";

const SecondFactorPanel = lazy(async () => ({
  default: (await import("../../features/settings")).SecondFactorPanel,
}));

/** From when on one gets in only with a second factor, which one does not have. */
export function useSecondFactorDue(): Date | null {
  const dueAt = useAccount().data?.second_factor_due_at;
  return dueAt ? new Date(dueAt) : null;
}

export function SecondFactorBanner() {
  const due = useSecondFactorDue();
  if (due === null) return null;
  return (
    <Banner>
      <Text fz="sm" fw={600}>
        Your organization requires two-step sign-in from {formatDateTime(due.toISOString())}.{" "}
        <Anchor
          inherit
          underline="always"
          renderRoot={(props) => <Link to="/settings/$section" params={{ section: "account" }} {...props} />}
        >
          Set it up
        </Anchor>
      </Text>
    </Banner>
  );
}

export function SecondFactorGate() {
  usePageTitle("Two-step sign-in");
  const signOut = useSignOut();
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack w={560} maw="100%" gap="lg">
        <Center>
          <Logo size={24} />
        </Center>
        <Title order={1} fz="xl">
          Set up two-step sign-in
        </Title>
        <Alert variant="light" role="status">
          Your organization requires it. You can use everything else once it is on.
        </Alert>
        <Suspense fallback={<Skeleton h={200} radius={14} />}>
          <SecondFactorPanel />
        </Suspense>
        <Group gap="sm">
          <OtherOrganizations />
          <Button variant="subtle" onClick={() => signOut.mutate()}>
            Sign out
          </Button>
        </Group>
      </Stack>
    </Center>
  );
}
