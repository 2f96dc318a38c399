/** The second step of signing in: the code of an authenticator app, or a recovery code. */

import { Anchor, Button, Stack, Text, TextInput, Title } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../components/forms/dialog";
import { useForm } from "../../lib/ui/use-form";
import { useSecondStep } from "./api";

interface SecondStepFormProps {
  challenge: string;
  onSignedIn: () => void;
  onStartOver: () => void;
}

export function SecondStepForm({ challenge, onSignedIn, onStartOver }: SecondStepFormProps) {
  const answer = useSecondStep(challenge);
  const form = useForm({ code: "" }, answer.error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    answer.mutate(form.values.code, { onSuccess: onSignedIn });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <div>
          <Title order={1} fz="xl">
            Enter your code
          </Title>
          <Text fz="sm" c="dimmed" mt={4}>
            Your account has two-step sign-in.
          </Text>
        </div>
        <TextInput
          label="Code"
          description="The six digits in your authenticator app, or a recovery code"
          autoComplete="one-time-code"
          autoFocus
          required
          {...form.text("code")}
        />
        <FormProblem words={form.problem} />
        <Button type="submit" loading={answer.isPending} size="md" fullWidth>
          Sign in
        </Button>
        <Anchor component="button" type="button" fz="sm" ta="center" onClick={onStartOver}>
          Start over
        </Anchor>
      </Stack>
    </form>
  );
}
