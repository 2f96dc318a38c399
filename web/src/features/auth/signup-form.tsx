/** Asks for an account; the operator answers with a sign-in link. */

import { Alert, Button, Stack, TextInput, Title } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../components/forms/dialog";
import { useForm } from "../../lib/ui/use-form";
import { useSignUp } from "./api";

export function SignupForm() {
  const ask = useSignUp();
  const form = useForm({ name: "", email: "", organization_name: "" }, ask.error, {
    labels: { email: "Email", organization_name: "Organization" },
  });
  const { name, email, organization_name } = form.values;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    ask.mutate({
      email,
      ...(name === "" ? {} : { name }),
      ...(organization_name === "" ? {} : { organization_name }),
    });
  };
  if (ask.data) {
    return (
      <Alert variant="light" role="status" title="Request received">
        {ask.data.detail}
      </Alert>
    );
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Title order={1} fz="xl">
          Request an account
        </Title>
        <TextInput label="Name" autoComplete="name" {...form.text("name")} />
        <TextInput label="Email" type="email" autoComplete="email" required {...form.text("email")} />
        <TextInput label="Organization" autoComplete="organization" {...form.text("organization_name")} />
        <FormProblem words={form.problem} />
        <Button type="submit" loading={ask.isPending} size="md" fullWidth>
          Send request
        </Button>
      </Stack>
    </form>
  );
}
