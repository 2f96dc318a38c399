/** Chooses the password for which a one-time link was made. */

import { Button, Stack, Text, Title } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../components/forms/dialog";
import { Password } from "../../components/forms/password";
import { useForm } from "../../lib/ui/use-form";
import { useNewPassword } from "./api";

interface NewPasswordFormProps {
  token: string;
  onSignedIn: () => void;
  /** Of a person with two-step sign-in, whose password is set with the second step. */
  onChallenge: (challenge: string) => void;
}

export function NewPasswordForm({ token, onSignedIn, onChallenge }: NewPasswordFormProps) {
  const save = useNewPassword(token);
  const form = useForm({ new_password: "" }, save.error, { labels: { new_password: "Password" } });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save.mutate(form.values.new_password, {
      onSuccess: (challenge) => (challenge === null ? onSignedIn() : onChallenge(challenge)),
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <div>
          <Title order={1} fz="xl">
            Choose a password
          </Title>
          <Text fz="sm" c="dimmed" mt={4}>
            You will be signed out everywhere else.
          </Text>
        </div>
        <Password
          label="New password"
          description="At least 8 characters, and not a common password"
          autoComplete="new-password"
          required
          {...form.text("new_password")}
        />
        <FormProblem words={form.problem} />
        <Button type="submit" loading={save.isPending} size="md" fullWidth>
          Save and sign in
        </Button>
      </Stack>
    </form>
  );
}
