/** The deletion of one's own account: what goes, what stays, and what it has to be confirmed with. */

import { Alert, Anchor, Button, List, Stack, Text, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { FormDialog } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import type { Schema } from "../../../lib/api/types";
import { pluralize } from "../../../lib/format/format";
import { useForm } from "../../../lib/ui/use-form";
import { isProofMissing, NO_PROOF, ProofFields, proofOf } from "../proof-fields";
import { FRESH_SIGN_IN, SignInAgain } from "../sign-in-again";
import { useDeleteAccount, useDeletionPreview } from "./delete-account-api";

type Preview = Schema<"AccountDeletionPreviewResponse">;

export function DeleteAccount() {
  const preview = useDeletionPreview();
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Panel title="Delete my account">
      <Loaded query={preview} what="What would be deleted" height={110}>
        {(data) => (
          <Stack p="lg" gap="md" align="flex-start">
            <Text fz="sm">
              Deletes your account and signs you out everywhere. Agents, calls, and recordings stay with your
              organizations.
            </Text>
            {data.refusal === null ? (
              <Button variant="default" color="red" onClick={() => setIsAsking(true)}>
                Delete my account
              </Button>
            ) : data.refusal === FRESH_SIGN_IN ? (
              <SignInAgain what="delete your account" />
            ) : (
              <Alert color="yellow" variant="light" py="xs">
                {refusalWords(data)}
              </Alert>
            )}
            {data.refusal === "only_owner" && <DeleteOrganizationInstead />}
            {isAsking && <DeletionDialog preview={data} onClose={() => setIsAsking(false)} />}
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}

function refusalWords({ refusal, organizations }: Preview): string {
  if (refusal === "superuser_account")
    return "A superuser's account cannot be deleted. Ask the operator to end your superuser access first.";
  const alone = organizations.filter((organization) => organization.is_only_owner).map(({ name }) => name);
  return `You are the only owner of ${new Intl.ListFormat("en-US").format(alone)}. Make another member an owner first, or delete the organization.`;
}

function DeleteOrganizationInstead() {
  return (
    <Text fz="sm">
      <Anchor
        fz="sm"
        renderRoot={(props) => <Link to="/settings/$section" params={{ section: "organization" }} {...props} />}
      >
        Delete the organization
      </Anchor>
      : if it is your only one, your account is deleted with it.
    </Text>
  );
}

function DeletionDialog({ preview, onClose }: { preview: Preview; onClose: () => void }) {
  const remove = useDeleteAccount();
  const form = useForm({ email: "", ...NO_PROOF }, remove.error);
  const submit = () => remove.mutate({ email: form.values.email, ...proofOf(preview, form.values) });
  return (
    <FormDialog
      isOpen
      isDangerous
      title="Delete your account?"
      submit="Delete my account"
      isBusy={remove.isPending}
      isDisabled={form.values.email.trim() === "" || isProofMissing(preview, form.values)}
      problem={form.problem}
      onClose={onClose}
      onSubmit={submit}
    >
      <WhatEnds preview={preview} />
      <TextInput
        label="Your email"
        description="Type the email address of your account to confirm"
        autoComplete="off"
        data-autofocus
        required
        {...form.text("email")}
      />
      <ProofFields needed={preview} text={form.text} />
    </FormDialog>
  );
}

function WhatEnds({ preview }: { preview: Preview }) {
  return (
    <>
      <Text fz="sm">
        This deletes your name, email address, password, two-step sign-in, sessions, and saved views. It cannot be
        undone.
      </Text>
      {preview.organizations.length > 0 && (
        <div>
          <Text fz="sm" fw={600}>
            You will leave
          </Text>
          <List fz="sm">
            {preview.organizations.map(({ id, name, api_keys }) => (
              <List.Item key={id}>
                {api_keys === 0 ? name : `${name}: ${pluralize(api_keys, "API key")} of yours will stop working`}
              </List.Item>
            ))}
          </List>
        </div>
      )}
    </>
  );
}
