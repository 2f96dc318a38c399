/** The deletion of the organization, for owners: what goes, what stands against it, and what it is confirmed with. */

import { Alert, Button, List, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import type { Schema } from "../../../lib/api/types";
import { pluralize } from "../../../lib/format/format";
import { useAccount } from "../../../lib/organization/organization-context";
import { useForm } from "../../../lib/ui/use-form";
import { isProofMissing, NO_PROOF, ProofFields, proofOf } from "../proof-fields";
import { FRESH_SIGN_IN, SignInAgain } from "../sign-in-again";
import { useDeleteOrganization, useOrganizationDeletionPreview } from "./delete-organization-api";

type Preview = Schema<"OrganizationDeletionPreviewResponse">;

export function DeleteOrganization() {
  const account = useAccount().data;
  // Neither superusers in others' names nor identity providers delete an organization.
  const isOwnSession = account !== undefined && !account.impersonated && !account.is_provider_session;
  const preview = useOrganizationDeletionPreview(isOwnSession);
  const [isAsking, setIsAsking] = useState(false);
  if (!isOwnSession) return null;
  return (
    <Panel title="Delete organization">
      <Loaded query={preview} what="What would be deleted" height={110}>
        {(data) => (
          <Stack p="lg" gap="md" align="flex-start">
            <Text fz="sm">
              Deletes {data.name} with all agents, calls, recordings, contacts, and settings, for all members. Phone
              numbers that you got through this installation are returned to their carrier. This cannot be undone.
            </Text>
            {data.refusals.length === 0 ? (
              <Button variant="default" color="red" onClick={() => setIsAsking(true)}>
                Delete organization
              </Button>
            ) : data.refusals.every((refusal) => refusal === FRESH_SIGN_IN) ? (
              <SignInAgain what="delete the organization" />
            ) : (
              <Alert color="yellow" variant="light" py="xs">
                {data.refusals.map((refusal) => (
                  <Text key={refusal} fz="sm">
                    {REFUSALS[refusal] ?? "It cannot be deleted now."}
                  </Text>
                ))}
                {data.refusals.some((refusal) => !REFUSALS_THAT_STAY.has(refusal)) && (
                  <Button
                    mt={8}
                    size="xs"
                    variant="default"
                    loading={preview.isFetching}
                    onClick={() => void preview.refetch()}
                  >
                    Check again
                  </Button>
                )}
              </Alert>
            )}
            {isAsking && <DeletionDialog preview={data} onClose={() => setIsAsking(false)} />}
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}

const REFUSALS: Record<string, string> = {
  organization_has_live_calls: "Calls are in progress, or a chat is being answered. Wait until they end.",
  organization_has_running_campaigns: "A campaign is running. Pause it first.",
  superuser_account:
    "A superuser belongs to this organization only. Ask the operator to end their superuser access first.",
  fresh_sign_in_needed:
    "For your security, sign in again to delete the organization. You have no password, so you need a new sign-in link.",
};
const REFUSALS_THAT_STAY = new Set(["superuser_account", "fresh_sign_in_needed"]);

function DeletionDialog({ preview, onClose }: { preview: Preview; onClose: () => void }) {
  const remove = useDeleteOrganization(preview.name);
  const form = useForm({ name: "", ...NO_PROOF }, remove.error);
  const submit = () => remove.mutate({ name: form.values.name, ...proofOf(preview, form.values) });
  return (
    <FormDialog
      isOpen
      isDangerous
      title={`Delete ${preview.name}?`}
      submit="Delete organization"
      isBusy={remove.isPending}
      isDisabled={form.values.name.trim() !== preview.name.trim() || isProofMissing(preview, form.values)}
      problem={form.problem}
      onClose={onClose}
      onSubmit={submit}
    >
      <WhatGoes preview={preview} />
      <TextInput
        label="Organization name"
        description={`Type ${preview.name} to confirm`}
        autoComplete="off"
        data-autofocus
        required
        {...form.text("name")}
      />
      <ProofFields needed={preview} text={form.text} />
    </FormDialog>
  );
}

const KINDS: [string, string][] = [
  ["agents", "agent"],
  ["runs", "run"],
  ["documents", "document"],
  ["campaigns", "campaign"],
  ["contacts", "contact"],
  ["phone_numbers", "phone number"],
  ["api_keys", "API key"],
];

function WhatGoes({ preview }: { preview: Preview }) {
  const { counts, accounts, deletes_own_account } = preview;
  const others = accounts - (deletes_own_account ? 1 : 0);
  return (
    <>
      <Text fz="sm">
        Everyone is signed out and API keys stop working at once. Then everything in it is deleted, which can take a few
        minutes:
      </Text>
      <List fz="sm">
        {KINDS.filter(([kind]) => (counts[kind] ?? 0) > 0).map(([kind, word]) => (
          <List.Item key={kind}>{pluralize(counts[kind] ?? 0, word)}</List.Item>
        ))}
        {deletes_own_account && <List.Item>your account, because you are in no other organization</List.Item>}
        {others > 0 && (
          <List.Item>{pluralize(others, "account")} of members who are in no other organization</List.Item>
        )}
      </List>
    </>
  );
}
