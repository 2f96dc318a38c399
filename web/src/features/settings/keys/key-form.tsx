/** A new API key: what it may do, from where, until when. */

import { MultiSelect, Select, Text, TextInput } from "@mantine/core";
import { FormDialog } from "../../../components/forms/dialog";
import { useForm } from "../../../lib/ui/use-form";
import type { Schema } from "../../../lib/api/types";
import { useCreateKey } from "./api";

const DAY_MS = 86_400_000;

interface Values {
  name: string;
  role: "admin" | "member" | "viewer";
  scopes: ("read" | "call" | "manage")[];
  networks: string;
  expires_at: string;
}

export function KeyForm({ onClose, onMade }: { onClose: () => void; onMade: (key: Schema<"ApiKeyCreated">) => void }) {
  const create = useCreateKey();
  const form = useForm<Values>(
    { name: "", role: "admin", scopes: ["read", "call", "manage"], networks: "", expires_at: "90" },
    create.error,
    { labels: { scopes: "Scopes", networks: "Allowed networks", expires_at: "Expires" } },
  );
  const submit = () => {
    const { name, role, scopes, networks, expires_at } = form.values;
    const expiry = expires_at === "never" ? {} : { expires_at: inDays(Number(expires_at)) };
    create.mutate(
      { name, role, scopes, networks: networks.split(/[\s,]+/).filter((one) => one !== ""), ...expiry },
      {
        onSuccess: (key) => {
          onMade(key);
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title="New API key"
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Create key"
      isBusy={create.isPending}
      problem={form.problem}
    >
      <TextInput label="Name" placeholder="CRM import" required data-autofocus {...form.text("name")} />
      <Select
        label="Role"
        allowDeselect={false}
        data={[
          { value: "admin", label: "Admin: full access" },
          { value: "member", label: "Member: agents, calls, campaigns" },
          { value: "viewer", label: "Viewer: read-only" },
        ]}
        {...form.field("role")}
      />
      <MultiSelect
        label="Scopes"
        description="Limit the key to part of what its role allows"
        data={[
          { value: "read", label: "Read" },
          { value: "call", label: "Call" },
          { value: "manage", label: "Manage" },
        ]}
        {...form.field("scopes")}
      />
      <Select
        label="Expires"
        allowDeselect={false}
        data={[
          { value: "7", label: "In 7 days" },
          { value: "30", label: "In 30 days" },
          { value: "90", label: "In 90 days" },
          { value: "365", label: "In a year" },
          { value: "never", label: "Never" },
        ]}
        {...form.field("expires_at")}
      />
      <TextInput
        label="Allowed networks"
        description="Addresses or networks, separated by commas. Leave it empty to allow any."
        placeholder="203.0.113.0/24"
        {...form.text("networks")}
      />
      <Text fz="sm" c="dimmed">
        The key acts on behalf of this organization. It is shown once, after you create it. Keys cannot create keys or
        invite members.
      </Text>
    </FormDialog>
  );
}

function inDays(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString();
}
