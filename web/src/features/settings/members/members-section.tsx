/** Who belongs to the organization, with which role; and who is invited. */

import { Badge, Button, Group, Select, Stack, Table, Text } from "@mantine/core";
import { useState } from "react";
import { DataTable } from "../../../components/tables/data-table";
import { Confirm } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { SecretOnce } from "../../../components/forms/secret";
import { useAccount, usePermissions } from "../../../lib/organization/organization-context";
import { formatDateTime } from "../../../lib/format/format";
import { notifySuccess, notifyError } from "../../../lib/ui/notifications";
import type { Schema } from "../../../lib/api/types";
import { useChangeRole, useInvitations, useMembers, usePasswordLink, useRemoveMember, useRevoke } from "./api";
import { InviteForm, ROLES } from "./invite-form";
import { ResetSecondFactor } from "./reset-second-factor";
import { UnlinkIdentity } from "./unlink-identity";

export default function MembersSection() {
  const members = useMembers();
  const [isInviting, setIsInviting] = useState(false);
  const [fresh, setFresh] = useState<Schema<"InvitationCreated"> | null>(null);
  const [link, setLink] = useState<Schema<"SignInLinkCreated"> | null>(null);
  return (
    <Stack gap="md">
      {fresh && (
        <SecretOnce
          value={fresh.url}
          label="link"
          hint={`Send it to ${fresh.email}. It works once, expires ${formatDateTime(fresh.expires_at)}, and is not shown again.`}
        />
      )}
      {link && (
        <SecretOnce
          value={link.url}
          label="link"
          hint={`Send it to ${link.email}, who chooses a new password with it. It works once and expires ${formatDateTime(link.expires_at)}.`}
        />
      )}
      <Panel
        title="Members"
        right={
          <Button size="sm" onClick={() => setIsInviting(true)}>
            Invite
          </Button>
        }
      >
        <Loaded query={members} what="The members">
          {(data) => (
            <DataTable
              label="Members"
              columns={[
                { title: "Member" },
                { title: "Role", width: 170 },
                { title: "Joined" },
                { title: "Actions", isQuiet: true },
              ]}
            >
              {data.members.map((member) => (
                <MemberRow key={member.user_id} member={member} onLink={setLink} />
              ))}
            </DataTable>
          )}
        </Loaded>
      </Panel>
      <Invitations />
      <Text fz="sm" c="dimmed" maw={720}>
        Viewers can only read. Members build agents and place calls. Admins also manage keys, members, carriers, and
        models. Owners can do everything, including adding other owners.
      </Text>
      {isInviting && <InviteForm onClose={() => setIsInviting(false)} onInvited={setFresh} />}
    </Stack>
  );
}

function roleChanged(endedKeys: string[]): string {
  return endedKeys.length === 0 ? "Role changed." : `Role changed. Their API keys ended: ${endedKeys.join(", ")}.`;
}

interface MemberRowProps {
  member: Schema<"MemberResponse">;
  onLink: (link: Schema<"SignInLinkCreated">) => void;
}

export function MemberRow({ member, onLink }: MemberRowProps) {
  const account = useAccount();
  const permissions = usePermissions();
  const change = useChangeRole();
  const remove = useRemoveMember();
  const link = usePasswordLink();
  const [isAsking, setIsAsking] = useState(false);
  const isMe = account.data?.id === member.user_id;
  const canChange = member.role !== "owner" || permissions.own;
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={8}>
          <Text fw={600} fz="sm">
            {member.name || member.email}
          </Text>
          {isMe && <Badge color="gray">You</Badge>}
          {member.has_second_factor && <Badge color="teal">Two-step</Badge>}
          {member.has_identity && <Badge color="blue">Identity provider</Badge>}
        </Group>
        {member.name && (
          <Text fz="xs" c="dimmed">
            {member.email}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Select
          size="xs"
          aria-label={`Role of ${member.email}`}
          allowDeselect={false}
          disabled={!canChange || change.isPending}
          data={permissions.own ? ROLES : ROLES.filter((role) => role.value !== "owner" || member.role === "owner")}
          value={member.role}
          onChange={(role) =>
            role &&
            change.mutate(
              { userId: member.user_id, role },
              { onSuccess: ({ ended_keys }) => notifySuccess(roleChanged(ended_keys)), onError: notifyError },
            )
          }
        />
      </Table.Td>
      <Table.Td c="dimmed">{formatDateTime(member.created_at)}</Table.Td>
      <Table.Td ta="right">
        {canChange && !isMe && (
          <Button
            size="compact-sm"
            variant="subtle"
            loading={link.isPending}
            onClick={() => link.mutate(member.user_id, { onSuccess: onLink, onError: notifyError })}
            aria-label={`Reset password of ${member.email}`}
          >
            Reset password
          </Button>
        )}
        {permissions.own && !isMe && member.has_second_factor && <ResetSecondFactor member={member} />}
        {permissions.own && member.has_identity && <UnlinkIdentity member={member} />}
        {canChange && (
          <Button
            size="compact-sm"
            variant="subtle"
            color="red"
            onClick={() => setIsAsking(true)}
            aria-label={isMe ? "Leave this organization" : `Remove ${member.email}`}
          >
            {isMe ? "Leave" : "Remove"}
          </Button>
        )}
        <Confirm
          title={isMe ? "Leave this organization?" : `Remove ${member.email}?`}
          isOpen={isAsking}
          onClose={() => setIsAsking(false)}
          onConfirm={() => remove.mutate(member.user_id, { onSuccess: () => setIsAsking(false) })}
          confirm={isMe ? "Leave" : "Remove"}
          isBusy={remove.isPending}
          error={remove.error}
        >
          {isMe ? "Your" : "Their"} sessions in this organization end immediately.
          {member.api_keys.length > 0 &&
            ` So do the API keys that ${isMe ? "you" : "they"} created: ${member.api_keys.join(", ")}.`}
        </Confirm>
      </Table.Td>
    </Table.Tr>
  );
}

function Invitations() {
  const invitations = useInvitations();
  const revoke = useRevoke();
  const open = invitations.data?.invitations ?? [];
  if (open.length === 0) return null;
  return (
    <Panel title="Open invitations">
      <DataTable
        label="Open invitations"
        columns={[{ title: "Email" }, { title: "Role" }, { title: "Expires" }, { title: "Actions", isQuiet: true }]}
      >
        {open.map((invitation) => (
          <Table.Tr key={invitation.id}>
            <Table.Td fw={600}>{invitation.email}</Table.Td>
            <Table.Td tt="capitalize">{invitation.role}</Table.Td>
            <Table.Td c="dimmed">{formatDateTime(invitation.expires_at)}</Table.Td>
            <Table.Td ta="right">
              <Button
                size="compact-sm"
                variant="subtle"
                color="red"
                onClick={() => revoke.mutate(invitation.id, { onError: notifyError })}
                aria-label={`Revoke the invitation for ${invitation.email}`}
              >
                Revoke
              </Button>
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </Panel>
  );
}
