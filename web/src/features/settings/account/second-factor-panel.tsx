/** A person's own two-step sign-in: on or off, new recovery codes. */

import { Alert, Button, Group, Stack, TextInput } from "@mantine/core";
import type { UseMutationResult } from "@tanstack/react-query";
import { useState } from "react";
import { FormDialog } from "../../../components/forms/dialog";
import { Fact } from "../../../components/layout/fact";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import type { Schema } from "../../../lib/api/types";
import { formatDateTime } from "../../../lib/format/format";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useForm } from "../../../lib/ui/use-form";
import { RecoveryCodes } from "./recovery-codes";
import {
  useRemoveSecondFactor,
  useRenewRecoveryCodes,
  useSecondFactor,
  useSecondFactorChanged,
} from "./second-factor-api";
import { SecondFactorSetup } from "./second-factor-setup";

export function SecondFactorPanel() {
  const factor = useSecondFactor();
  return (
    <Panel title="Two-step sign-in">
      <Loaded query={factor} what="Your two-step sign-in" height={140}>
        {(data) => (data.is_enabled ? <Enabled factor={data} /> : <SecondFactorSetup />)}
      </Loaded>
    </Panel>
  );
}

function Enabled({ factor }: { factor: Schema<"SecondFactorResponse"> }) {
  const renew = useRenewRecoveryCodes();
  const remove = useRemoveSecondFactor();
  const changed = useSecondFactorChanged();
  const [asked, setAsked] = useState<"renew" | "remove" | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const close = () => setAsked(null);
  if (codes !== null)
    return (
      <RecoveryCodes
        codes={codes}
        onDone={() => {
          setCodes(null);
          changed();
        }}
      />
    );
  return (
    <Stack p="lg" gap="md">
      <Group gap={40}>
        <Fact name="On since" value={factor.enabled_at === null ? "–" : formatDateTime(factor.enabled_at)} />
        <Fact name="Recovery codes left" value={factor.recovery_codes_left} />
      </Group>
      {factor.recovery_codes_left < 3 && (
        <Alert color="yellow" variant="light" py="xs">
          You have few recovery codes left. Create new ones before you run out.
        </Alert>
      )}
      <Group gap="sm">
        <Button variant="default" onClick={() => setAsked("renew")}>
          New recovery codes
        </Button>
        <Button variant="default" color="red" onClick={() => setAsked("remove")}>
          Turn off
        </Button>
      </Group>
      {asked === "renew" && (
        <CodeDialog
          title="Create new recovery codes?"
          submit="Create new codes"
          request={renew}
          onClose={close}
          onDone={({ recovery_codes }) => {
            close();
            setCodes(recovery_codes);
          }}
        />
      )}
      {asked === "remove" && (
        <CodeDialog
          title="Turn off two-step sign-in?"
          submit="Turn off"
          request={remove}
          onClose={close}
          onDone={() => {
            notifySuccess("Two-step sign-in is off.");
            changed();
          }}
        />
      )}
    </Stack>
  );
}

interface CodeDialogProps<Answer> {
  title: string;
  submit: string;
  request: UseMutationResult<Answer, Error, string>;
  onClose: () => void;
  onDone: (answer: Answer) => void;
}

function CodeDialog<Answer>({ title, submit, request, onClose, onDone }: CodeDialogProps<Answer>) {
  const form = useForm({ code: "" }, request.error);
  return (
    <FormDialog
      isOpen
      title={title}
      submit={submit}
      isBusy={request.isPending}
      problem={form.problem}
      onClose={() => {
        request.reset();
        onClose();
      }}
      onSubmit={() => request.mutate(form.values.code, { onSuccess: onDone })}
    >
      <TextInput
        label="Code"
        description="The six digits in your authenticator app, or a recovery code"
        autoComplete="one-time-code"
        data-autofocus
        required
        {...form.text("code")}
      />
    </FormDialog>
  );
}
