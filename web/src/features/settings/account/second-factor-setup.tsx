/** Setting two-step sign-in up: the password, the QR code and a first code, the recovery codes. */

import { Button, Image, Stack, Text, TextInput } from "@mantine/core";
import { type SubmitEvent, useState } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { Password } from "../../../components/forms/password";
import { CopyLine } from "../../../components/forms/secret";
import type { Schema } from "../../../lib/api/types";
import { useAccount } from "../../../lib/organization/organization-context";
import { useForm } from "../../../lib/ui/use-form";
import classes from "../settings.module.css";
import { ProofProblem } from "../sign-in-again";
import { RecoveryCodes } from "./recovery-codes";
import { useConfirmEnrollment, useEnroll, useSecondFactorChanged } from "./second-factor-api";

export function SecondFactorSetup() {
  const enroll = useEnroll();
  const changed = useSecondFactorChanged();
  const [codes, setCodes] = useState<string[] | null>(null);
  const hasPassword = useAccount().data?.has_password !== false;
  const form = useForm({ current_password: "" }, enroll.error);
  if (codes !== null) return <RecoveryCodes codes={codes} onDone={changed} />;
  if (enroll.data) return <FirstCode enrollment={enroll.data} onConfirmed={setCodes} />;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    enroll.mutate(form.values.current_password);
  };
  return (
    <form onSubmit={submit} className={classes.form} noValidate>
      <Text fz="sm" c="dimmed">
        In addition to your password or a sign-in link, you sign in with a code from an authenticator app on your phone,
        such as Aegis, 1Password, or Google Authenticator.
      </Text>
      {hasPassword && (
        <Password label="Your password" autoComplete="current-password" {...form.text("current_password")} />
      )}
      <ProofProblem error={enroll.error} words={form.problem} what="set up two-step sign-in" />
      <div>
        <Button type="submit" loading={enroll.isPending}>
          Set up
        </Button>
      </div>
    </form>
  );
}

interface FirstCodeProps {
  enrollment: Schema<"SecondFactorEnrollmentResponse">;
  onConfirmed: (codes: string[]) => void;
}

function FirstCode({ enrollment, onConfirmed }: FirstCodeProps) {
  const confirm = useConfirmEnrollment();
  const form = useForm({ code: "" }, confirm.error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    confirm.mutate(form.values.code, { onSuccess: ({ recovery_codes }) => onConfirmed(recovery_codes) });
  };
  return (
    <form onSubmit={submit} className={classes.form} noValidate>
      <Stack gap="sm">
        <Text fz="sm">Scan this code with your authenticator app, or type in the key.</Text>
        <Image src={enrollment.qr_code} alt="QR code for your authenticator app" w={220} h={220} radius="sm" />
        <CopyLine value={enrollment.secret} label="key" />
      </Stack>
      <TextInput
        label="Code"
        description="The six digits that the app shows now"
        autoComplete="one-time-code"
        inputMode="numeric"
        required
        {...form.text("code")}
      />
      <FormProblem words={form.problem} />
      <div>
        <Button type="submit" loading={confirm.isPending}>
          Turn on
        </Button>
      </div>
    </form>
  );
}
