/** Signs in with a one-time link, with email and password, or with an organization's provider, or asks for an account. */

import { Alert, Anchor, Box, Button, Center, Code, Loader, Paper, Stack, Text, TextInput, Title } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type SubmitEvent, useEffect, useState } from "react";
import { FormProblem } from "../../components/forms/dialog";
import { Logo } from "../../components/layout/logo";
import { Password } from "../../components/forms/password";
import { Problem } from "../../components/feedback/problem";
import { useForm } from "../../lib/ui/use-form";
import { usePageTitle } from "../../lib/ui/use-page-title";
import { ApiError } from "../../lib/api/errors";
import { farewell, hasExpired, useToken } from "../../lib/api/session";
import { useLink, useSignIn, useSignupEnabled } from "./api";
import { nextPath } from "./next-path";
import { NewPasswordForm } from "./new-password-form";
import { ProviderForm } from "./provider-form";
import { SecondStepForm } from "./second-step-form";
import { SignupForm } from "./signup-form";

export function SignInPage() {
  usePageTitle("Sign in");
  const { token, next, organization } = useSearch({ from: "/sign-in" });
  const link = useLink(token);
  const session = useToken();
  const navigate = useNavigate();
  const isLinkPending = token !== undefined && link.isPending;
  const setsPassword = link.error instanceof ApiError && link.error.code === "password_missing";

  const [typedChallenge, setTypedChallenge] = useState<string | null>(null);
  const challenge = typedChallenge ?? link.data ?? null;

  const leave = () => void navigate({ to: nextPath(next), replace: true });
  const startOver = () => {
    setTypedChallenge(null);
    void navigate({ to: "/sign-in", search: next === undefined ? {} : { next } });
  };

  useEffect(() => {
    // A link replaces the current session, so it goes first.
    if (session !== null && (token === undefined || (link.isSuccess && link.data === null)))
      void navigate({ to: nextPath(next), replace: true });
  }, [session, token, link.isSuccess, link.data, next, navigate]);

  return (
    <Center mih="100vh" p="md">
      <Stack w={400} maw="100%" gap="xl">
        <Center>
          <Logo size={24} />
        </Center>
        <Paper withBorder p={28} radius="lg" bg="var(--surface)">
          {isLinkPending ? (
            <Center mih={160}>
              <Stack align="center">
                <Loader size="sm" />
                <Text c="dimmed">Signing you in…</Text>
              </Stack>
            </Center>
          ) : challenge !== null ? (
            <SecondStepForm challenge={challenge} onSignedIn={leave} onStartOver={startOver} />
          ) : (
            <Stack gap="lg">
              {link.isError && !setsPassword && <LinkProblem error={link.error} />}
              {token === undefined && <Notice />}
              {setsPassword && token !== undefined ? (
                <NewPasswordForm token={token} onSignedIn={leave} onChallenge={setTypedChallenge} />
              ) : (
                <Forms
                  onChallenge={setTypedChallenge}
                  {...(next === undefined ? {} : { next })}
                  {...(organization === undefined ? {} : { organization })}
                />
              )}
            </Stack>
          )}
        </Paper>
        <Text ta="center" fz="sm" c="dimmed">
          Voice agents that answer and place phone calls.
        </Text>
      </Stack>
    </Center>
  );
}

/** Why one is here who was signed in a moment ago. */
function Notice() {
  const words = farewell() ?? (hasExpired() ? "Your session has ended. Sign in to continue where you left off." : null);
  return words === null ? null : (
    <Alert variant="light" role="status" py="xs">
      {words}
    </Alert>
  );
}

function LinkProblem({ error }: { error: unknown }) {
  return (
    <Box>
      <Problem title="This sign-in link does not work" error={error} />
      <Text fz="sm" c="dimmed" mt="xs">
        Sign-in links work once and expire after a day. Ask an administrator for a new one, or sign in with your
        password. On the server, <Code>offhook sign-in-link EMAIL</Code> prints a new one.
      </Text>
    </Box>
  );
}

interface FormsProps {
  /** Of a person with two-step sign-in. */
  onChallenge: (challenge: string) => void;
  next?: string;
  /** Whose identity provider signs one in. */
  organization?: string;
}

type Way = "password" | "organization" | "new";

function Forms({ onChallenge, next, organization }: FormsProps) {
  const [way, setWay] = useState<Way>(organization === undefined ? "password" : "organization");
  const isOpen = useSignupEnabled();
  return (
    <Stack gap="md">
      {way === "new" && <SignupForm />}
      {way === "password" && <PasswordForm onChallenge={onChallenge} />}
      {way === "organization" && (
        <ProviderForm
          {...(next === undefined ? {} : { next })}
          {...(organization === undefined ? {} : { name: organization })}
        />
      )}
      {way === "password" ? (
        <Button variant="default" size="md" fullWidth onClick={() => setWay("organization")}>
          Sign in with your organization
        </Button>
      ) : (
        <Anchor component="button" type="button" fz="sm" ta="center" onClick={() => setWay("password")}>
          {way === "new" ? "Already have an account? Sign in" : "Sign in with a password"}
        </Anchor>
      )}
      {isOpen && way === "password" && (
        <Text fz="sm" ta="center" c="dimmed">
          New here?{" "}
          <Anchor component="button" type="button" fz="sm" onClick={() => setWay("new")}>
            Request an account
          </Anchor>
        </Text>
      )}
    </Stack>
  );
}

function PasswordForm({ onChallenge }: { onChallenge: (challenge: string) => void }) {
  const signIn = useSignIn();
  const form = useForm({ email: "", password: "" }, signIn.error, { labels: { email: "Email" } });
  const [isTried, setIsTried] = useState(false);
  const needed = (name: "email" | "password", label: string) =>
    isTried && form.values[name] === "" ? { error: `${label} is required.` } : {};
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setIsTried(true);
    if (form.values.email === "" || form.values.password === "") return;
    signIn.mutate(form.values, { onSuccess: (challenge) => challenge !== null && onChallenge(challenge) });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Title order={1} fz="xl">
          Sign in
        </Title>
        <TextInput
          label="Email"
          type="email"
          autoComplete="email"
          required
          {...form.text("email")}
          {...needed("email", "Email")}
        />
        <Password
          label="Password"
          autoComplete="current-password"
          required
          {...form.text("password")}
          {...needed("password", "Password")}
        />
        <FormProblem words={form.problem} />
        <Button type="submit" loading={signIn.isPending} size="md" fullWidth>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
