/** Secrets with which tools sign in elsewhere; they are stored sealed and never shown again. */

import { Button, Select, Table, TagsInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { DataTable, ShowMore } from "../../../components/tables/data-table";
import { Confirm, FormDialog } from "../../../components/forms/dialog";
import { Empty, Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { Password } from "../../../components/forms/password";
import { usePermissions } from "../../../lib/organization/organization-context";
import { formatTimeAgo } from "../../../lib/format/format";
import { useForm } from "../../../lib/ui/use-form";
import { notifySuccess } from "../../../lib/ui/notifications";
import { type Credential, useCredentials, useDeleteCredential, useSaveCredential } from "../tools/api";

type Type = Credential["credential_type"];

const TYPES: { value: Type; label: string }[] = [
  { value: "bearer_token", label: "Bearer token" },
  { value: "api_key", label: "API key in a header" },
  { value: "basic_auth", label: "Username and password" },
  { value: "custom_header", label: "Header" },
];

const FIELDS: Record<Type, { name: string; label: string; isSecret: boolean }[]> = {
  none: [],
  bearer_token: [{ name: "token", label: "Token", isSecret: true }],
  api_key: [
    { name: "header_name", label: "Header", isSecret: false },
    { name: "api_key", label: "Key", isSecret: true },
  ],
  basic_auth: [
    { name: "username", label: "Username", isSecret: false },
    { name: "password", label: "Password", isSecret: true },
  ],
  custom_header: [
    { name: "header_name", label: "Header", isSecret: false },
    { name: "header_value", label: "Value", isSecret: true },
  ],
};

const COLUMNS = [
  { title: "Name" },
  { title: "Type" },
  { title: "Allowed servers" },
  { title: "Updated" },
  { title: "Actions", isQuiet: true },
];

export default function CredentialsSection() {
  const permissions = usePermissions();
  const credentials = useCredentials();
  const [edited, setEdited] = useState<Credential | "new" | null>(null);
  const add = permissions.write && (
    <Button size="sm" onClick={() => setEdited("new")}>
      New credential
    </Button>
  );
  return (
    <>
      <Panel title="Credentials" right={add}>
        <Loaded query={credentials} what="The credentials">
          {(data) =>
            data.length === 0 ? (
              <Empty isInside title="No credentials yet">
                Tools and webhook steps use credentials to sign in to your servers, so that no secret is stored in an
                agent.
              </Empty>
            ) : (
              <>
                <DataTable label="Credentials" columns={COLUMNS}>
                  {data.map((one) => (
                    <CredentialRow key={one.uuid} credential={one} onEdit={() => setEdited(one)} />
                  ))}
                </DataTable>
                <ShowMore list={credentials} what="credentials" />
              </>
            )
          }
        </Loaded>
      </Panel>
      {edited !== null && (
        <CredentialForm credential={edited === "new" ? null : edited} onClose={() => setEdited(null)} />
      )}
    </>
  );
}

function CredentialRow({ credential, onEdit }: { credential: Credential; onEdit: () => void }) {
  const permissions = usePermissions();
  const remove = useDeleteCredential();
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Table.Tr>
      <Table.Td fw={600}>{credential.name}</Table.Td>
      <Table.Td>{TYPES.find((type) => type.value === credential.credential_type)?.label ?? "None"}</Table.Td>
      <Table.Td style={{ whiteSpace: "normal" }}>
        {credential.allowed_hosts?.join(", ") || "First server it is used with"}
      </Table.Td>
      <Table.Td c="dimmed">{formatTimeAgo(credential.updated_at ?? credential.created_at)}</Table.Td>
      <Table.Td ta="right">
        {permissions.write && (
          <>
            <Button size="compact-sm" variant="subtle" onClick={onEdit} aria-label={`Edit ${credential.name}`}>
              Edit
            </Button>
            <Button
              size="compact-sm"
              variant="subtle"
              color="red"
              onClick={() => setIsAsking(true)}
              aria-label={`Delete ${credential.name}`}
            >
              Delete
            </Button>
          </>
        )}
        <Confirm
          title={`Delete “${credential.name}”?`}
          isOpen={isAsking}
          onClose={() => setIsAsking(false)}
          onConfirm={() => remove.mutate(credential.uuid)}
          confirm="Delete"
          isBusy={remove.isPending}
          error={remove.error}
        >
          This cannot be undone. A credential that a tool still uses cannot be deleted.
        </Confirm>
      </Table.Td>
    </Table.Tr>
  );
}

const SECRETS = ["token", "header_name", "api_key", "username", "password", "header_value"] as const;
type Secrets = Record<(typeof SECRETS)[number], string>;
const NO_SECRETS: Secrets = { token: "", header_name: "", api_key: "", username: "", password: "", header_value: "" };
const PLACES = Object.fromEntries(SECRETS.map((name) => [name, `credential_data.${name}`]));

const LABELS = { credential_type: "Type", header_name: "Header", username: "Username", api_key: "API key" };

export function CredentialForm({ credential, onClose }: { credential: Credential | null; onClose: () => void }) {
  const save = useSaveCredential(credential?.uuid ?? null);
  const permissions = usePermissions();
  const before = credential?.allowed_hosts ?? [];
  const first = {
    name: credential?.name ?? "",
    credential_type: credential?.credential_type ?? "bearer_token",
    allowed_hosts: before,
    ...NO_SECRETS,
  };
  const form = useForm(first, save.error, { places: PLACES, labels: LABELS });
  const { name, credential_type: type, allowed_hosts: hosts } = form.values;
  const fields = FIELDS[type];
  const data = Object.fromEntries(fields.map((field) => [field.name, form.values[field.name as keyof Secrets]]));
  // The stored secret is kept until the user types another one.
  const isUntouched =
    credential !== null && type === credential.credential_type && Object.values(data).every((value) => value === "");
  const hasOtherHosts = hosts.join() !== before.join();
  const submit = () =>
    save.mutate(
      {
        name,
        credential_type: type,
        ...(isUntouched ? {} : { credential_data: data }),
        ...(hasOtherHosts ? { allowed_hosts: hosts.length === 0 ? null : hosts } : {}),
      },
      {
        onSuccess: () => {
          notifySuccess(`“${name}” saved.`);
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title={credential === null ? "New credential" : "Edit credential"}
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Save"
      isBusy={save.isPending}
      problem={form.problem}
    >
      <TextInput label="Name" required data-autofocus {...form.text("name")} />
      <Select label="Type" allowDeselect={false} data={TYPES} {...form.field("credential_type")} />
      {fields.map((field) => {
        const props = {
          label: field.label,
          autoComplete: "off",
          placeholder: credential === null ? "" : "Unchanged",
          ...form.text(field.name as keyof Secrets),
        };
        return field.isSecret ? <Password key={field.name} {...props} /> : <TextInput key={field.name} {...props} />;
      })}
      <TagsInput
        label="Allowed servers"
        description={
          permissions.admin || !isUntouched
            ? "Such as crm.example.com or *.example.com. Leave empty to allow only the first server it is used with."
            : "To change this, enter the secret again or ask an admin"
        }
        placeholder={hosts.length === 0 ? "crm.example.com" : ""}
        disabled={!permissions.admin && isUntouched}
        {...form.field("allowed_hosts")}
      />
    </FormDialog>
  );
}
