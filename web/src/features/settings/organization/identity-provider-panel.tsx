/** Sign-in with the organization's own identity provider: set up by owners. */

import { Button, Group, Select, Switch, TagsInput, Text, TextInput } from "@mantine/core";
import { type SubmitEvent, useState } from "react";
import { Confirm, FormProblem } from "../../../components/forms/dialog";
import { Password } from "../../../components/forms/password";
import { CopyLine } from "../../../components/forms/secret";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import type { Schema } from "../../../lib/api/types";
import { usePermissions } from "../../../lib/organization/organization-context";
import { notifySuccess } from "../../../lib/ui/notifications";
import { useForm } from "../../../lib/ui/use-form";
import classes from "../settings.module.css";
import { useIdentityProvider, useRemoveIdentityProvider, useSaveIdentityProvider } from "./identity-provider-api";

type Provider = Schema<"IdentityProviderResponse">;
type JoinsAs = Provider["joins_as"];

const NOBODY = "invited";
const JOINING = [
  { value: NOBODY, label: "Members and invited people only" },
  { value: "viewer", label: "Anyone in these domains, as viewers" },
  { value: "member", label: "Anyone in these domains, as members" },
];

export function IdentityProviderPanel() {
  const state = useIdentityProvider();
  const permissions = usePermissions();
  return (
    <Panel title="Identity provider">
      <Loaded query={state} what="The identity provider" height={200}>
        {(data) =>
          permissions.own ? (
            <ProviderForm
              key={data.provider?.updated_at ?? ""}
              provider={data.provider}
              redirectUri={data.redirect_uri}
            />
          ) : (
            <Text p="lg" fz="sm">
              {data.provider === null
                ? "Not set up. Only owners can set it up."
                : `Members sign in with ${data.provider.issuer}. Only owners can change it.`}
            </Text>
          )
        }
      </Loaded>
    </Panel>
  );
}

function ProviderForm({ provider, redirectUri }: { provider: Provider | null; redirectUri: string }) {
  const save = useSaveIdentityProvider();
  const form = useForm(
    {
      sign_in_name: provider?.sign_in_name ?? "",
      issuer: provider?.issuer ?? "",
      client_id: provider?.client_id ?? "",
      client_secret: "",
      email_domains: provider?.email_domains ?? [],
      joins_as: provider?.joins_as ?? NOBODY,
      is_required: provider?.is_required ?? false,
    },
    save.error,
    { labels: { client_id: "Client ID", email_domains: "Email domains", sign_in_name: "Sign-in name" } },
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const { client_secret, joins_as, ...others } = form.values;
    const isStored = provider !== null && client_secret === "";
    save.mutate(
      {
        ...others,
        client_secret: isStored ? null : client_secret,
        joins_as: joins_as === NOBODY ? null : (joins_as as JoinsAs),
      },
      { onSuccess: () => notifySuccess("Identity provider saved.") },
    );
  };
  return (
    <form onSubmit={submit} className={classes.form} noValidate>
      <Text fz="sm" c="dimmed">
        Members sign in with the provider they already use, over OpenID Connect. Register Offhook there with this
        redirect URI:
      </Text>
      <CopyLine value={redirectUri} label="redirect URI" />
      <TextInput
        label="Sign-in name"
        description="What members enter on the sign-in page, such as acme"
        {...form.text("sign_in_name")}
      />
      <TextInput label="Issuer" placeholder="https://example.com" {...form.text("issuer")} />
      <TextInput label="Client ID" {...form.text("client_id")} />
      <Password
        label="Client secret"
        description={
          provider?.has_client_secret ? "Stored. Leave empty to keep it." : "Leave empty if the client has none"
        }
        autoComplete="off"
        {...form.text("client_secret")}
      />
      <TagsInput
        label="Email domains"
        description="Only addresses in these domains can sign in"
        {...form.field("email_domains")}
      />
      <Select label="Who gets in" allowDeselect={false} data={JOINING} {...form.field("joins_as")} />
      <Switch
        label="Require it"
        description="Admins, members, and viewers can sign in only with it. Owners can still use their password. API keys are not affected."
        {...form.check("is_required")}
      />
      <FormProblem words={form.problem} />
      <Group gap="sm">
        <Button type="submit" loading={save.isPending}>
          Save
        </Button>
        {provider !== null && <RemoveProvider />}
      </Group>
    </form>
  );
}

function RemoveProvider() {
  const remove = useRemoveIdentityProvider();
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <Button variant="subtle" color="red" onClick={() => setIsAsking(true)}>
        Remove
      </Button>
      <Confirm
        title="Remove the identity provider?"
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onConfirm={() => remove.mutate(undefined, { onSuccess: () => setIsAsking(false) })}
        confirm="Remove"
        isBusy={remove.isPending}
        error={remove.error}
      >
        Sessions opened with it end. People without a password need a link from an admin to sign in.
      </Confirm>
    </>
  );
}
