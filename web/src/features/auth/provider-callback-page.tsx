/** Where an identity provider sends the browser back to. */

import { Anchor, Center, Loader, Paper, Stack, Text } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { Problem } from "../../components/feedback/problem";
import { Logo } from "../../components/layout/logo";
import { usePageTitle } from "../../lib/ui/use-page-title";
import { nextPath } from "./next-path";
import { useProviderAnswer } from "./provider-api";
import { SecondStepForm } from "./second-step-form";

export function ProviderCallbackPage() {
  usePageTitle("Signing in");
  const answer = useProviderAnswer(useSearch({ from: "/sign-in/callback" }));
  const navigate = useNavigate();
  const challenge = answer.data?.challenge ?? null;
  const isSignedIn = answer.isSuccess && challenge === null;
  const next = nextPath(answer.data?.next);
  useEffect(() => {
    if (isSignedIn) void navigate({ to: next, replace: true });
  }, [isSignedIn, next, navigate]);
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack w={400} maw="100%" gap="xl">
        <Center>
          <Logo size={24} />
        </Center>
        <Paper withBorder p={28} radius="lg" bg="var(--surface)">
          {answer.isError ? (
            <Stack>
              <Problem title="You are not signed in" error={answer.error} />
              <Anchor fz="sm" ta="center" renderRoot={(props) => <Link to="/sign-in" {...props} />}>
                Start again
              </Anchor>
            </Stack>
          ) : challenge !== null ? (
            <SecondStepForm
              challenge={challenge}
              onSignedIn={() => void navigate({ to: next, replace: true })}
              onStartOver={() => void navigate({ to: "/sign-in" })}
            />
          ) : (
            <Center mih={160}>
              <Stack align="center">
                <Loader size="sm" />
                <Text c="dimmed">Signing you in…</Text>
              </Stack>
            </Center>
          )}
        </Paper>
      </Stack>
    </Center>
  );
}
