/** Invites somebody by a link. */

import { Select, TextInput } from "@mantine/core";
import { FormDialog } from "../../../components/forms/dialog";
import { usePermissions } from "../../../lib/organization/organization-context";
import { useForm } from "../../../lib/ui/use-form";
import type { Role, Schema } from "../../../lib/api/types";
import { useInvite } from "./api";

export const ROLES: { value: Role; label: string }[] = [
  { value: "owner", label: "Owner" },
  { value: "admin", label: "Admin" },
  { value: "member", label: "Member" },
  { value: "viewer", label: "Viewer" },
];

/** Returns whether an address is like sam@acme: a host on a private network, or more likely a typo. */
function isDotless(email: string): boolean {
  return /^[^@\s]+@[^@.\s]+$/.test(email.trim());
}

export function InviteForm({
  onClose,
  onInvited,
}: {
  onClose: () => void;
  onInvited: (made: Schema<"InvitationCreated">) => void;
}) {
  const permissions = usePermissions();
  const invite = useInvite();
  const form = useForm<{ email: string; name: string; role: Role }>(
    { email: "", name: "", role: "member" },
    invite.error,
    { labels: { email: "Email" } },
  );
  const { email, name, role } = form.values;
  const submit = () =>
    invite.mutate(
      { email, role, ...(name === "" ? {} : { name }) },
      {
        onSuccess: (made) => {
          onInvited(made);
          onClose();
        },
      },
    );
  return (
    <FormDialog
      title="Invite a member"
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Create link"
      isBusy={invite.isPending}
      problem={form.problem}
    >
      <TextInput
        label="Email"
        type="email"
        required
        data-autofocus
        {...form.text("email")}
        description={isDotless(email) ? "This address has no ending such as .com. Check it before you invite." : null}
      />
      <TextInput label="Name" {...form.text("name")} />
      <Select
        label="Role"
        allowDeselect={false}
        data={permissions.own ? ROLES : ROLES.slice(1)}
        {...form.field("role")}
      />
    </FormDialog>
  );
}
