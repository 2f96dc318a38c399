/** Accepts an invitation to an organization. */

import { Alert, Anchor, Button, Center, Paper, Skeleton, Stack, Text, TextInput, Title } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../components/forms/dialog";
import { Logo } from "../../components/layout/logo";
import { Password } from "../../components/forms/password";
import { Problem } from "../../components/feedback/problem";
import { useAccount } from "../../lib/organization/organization-context";
import { formatDateTime, humanize } from "../../lib/format/format";
import { useForm } from "../../lib/ui/use-form";
import { usePageTitle } from "../../lib/ui/use-page-title";
import type { Schema } from "../../lib/api/types";
import { useAcceptInvitation, useInvitation } from "./api";

export function InvitationPage() {
  usePageTitle("Invitation");
  const { token = "" } = useSearch({ from: "/invitation" });
  const invitation = useInvitation(token);
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack w={440} maw="100%" gap="xl">
        <Center>
          <Logo size={24} />
        </Center>
        <Paper withBorder p={28} radius="lg" bg="var(--surface)">
          {token === "" && (
            <Problem
              title="This link is incomplete"
              error={
                new Error("Copy the entire link from the invitation, including everything after the question mark.")
              }
            />
          )}
          {token !== "" && invitation.isPending && <Skeleton h={260} radius="md" />}
          {invitation.isError && (
            <Stack>
              <Problem title="This invitation cannot be used" error={invitation.error} />
              <Anchor fz="sm" ta="center" renderRoot={(props) => <Link to="/sign-in" {...props} />}>
                Sign in instead
              </Anchor>
            </Stack>
          )}
          {invitation.data && <Accept token={token} invited={invitation.data} />}
        </Paper>
      </Stack>
    </Center>
  );
}

function Accept({ token, invited }: { token: string; invited: Schema<"InvitedResponse"> }) {
  const account = useAccount();
  const accept = useAcceptInvitation(token);
  const navigate = useNavigate();
  const form = useForm({ name: invited.name ?? "", password: "" }, accept.error);
  const isSignedIn = account.data?.email === invited.email;
  const { name, password } = form.values;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const body = { ...(isSignedIn ? {} : { password }), ...(invited.has_account || name === "" ? {} : { name }) };
    accept.mutate(body, { onSuccess: () => void navigate({ to: "/" }) });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <div>
          <Title order={1} fz="xl">
            Join {invited.organization_name}
          </Title>
          <Text fz="sm" c="dimmed" mt={4}>
            {invited.email} is invited as {humanize(invited.role).toLowerCase()}. The invitation expires{" "}
            {formatDateTime(invited.expires_at)}.
          </Text>
        </div>
        {account.data?.email && !isSignedIn && (
          <Alert color="yellow" variant="light" py="xs">
            You are signed in as {account.data.email}. Joining signs you in as {invited.email}.
          </Alert>
        )}
        {!invited.has_account && <TextInput label="Your name" autoComplete="name" {...form.text("name")} />}
        {!isSignedIn && (
          <Password
            label={invited.has_account ? "Your password" : "Choose a password"}
            description={invited.has_account ? "The password of your existing account" : "At least 8 characters"}
            autoComplete={invited.has_account ? "current-password" : "new-password"}
            required
            {...form.text("password")}
          />
        )}
        <FormProblem words={form.problem} />
        <Button type="submit" size="md" loading={accept.isPending}>
          Join
        </Button>
      </Stack>
    </form>
  );
}
