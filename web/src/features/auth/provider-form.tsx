/** Asks for the organization whose identity provider signs one in. */

import { Button, Stack, TextInput, Title } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../components/forms/dialog";
import { useForm } from "../../lib/ui/use-form";
import { rememberedName, useProviderStart } from "./provider-api";

interface ProviderFormProps {
  /** The organization of a link. */
  name?: string;
  next?: string;
}

export function ProviderForm({ name, next }: ProviderFormProps) {
  const start = useProviderStart();
  const form = useForm({ sign_in_name: name ?? rememberedName() }, start.error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    start.mutate({ name: form.values.sign_in_name, ...(next === undefined ? {} : { next }) });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Title order={1} fz="xl">
          Sign in with your organization
        </Title>
        <TextInput
          label="Sign-in name"
          description="Your organization's sign-in name. If you do not know it, ask an owner."
          placeholder="acme"
          autoComplete="organization"
          autoFocus
          required
          {...form.text("sign_in_name")}
        />
        <FormProblem words={form.problem} />
        <Button type="submit" loading={start.isPending} size="md" fullWidth>
          Continue
        </Button>
      </Stack>
    </form>
  );
}
