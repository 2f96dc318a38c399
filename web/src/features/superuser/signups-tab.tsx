/** Account requests, answered with a sign-in link. */

import { Button, Stack, Table } from "@mantine/core";
import { useState } from "react";
import { SecretOnce } from "../../components/forms/secret";
import { Empty, Loaded } from "../../components/layout/page";
import { Panel } from "../../components/layout/panel";
import { DataTable } from "../../components/tables/data-table";
import { formatDateTime } from "../../lib/format/format";
import { notifyError } from "../../lib/ui/notifications";
import type { Schema } from "../../lib/api/types";
import { useCreateSignInLink, useRefuseSignup, useSignups } from "./api";

const COLUMNS = [
  { title: "Email" },
  { title: "Name" },
  { title: "Organization" },
  { title: "Address" },
  { title: "Asked" },
  { title: "Actions", isQuiet: true },
];

export function SignupsTab() {
  const signups = useSignups();
  const [link, setLink] = useState<Schema<"SignInLinkCreated"> | null>(null);
  return (
    <Stack gap="md">
      {link && (
        <SecretOnce
          value={link.url}
          label="link"
          hint={`Send it to ${link.email}. Anyone with the link gets the account. It works once and expires ${formatDateTime(link.expires_at)}.`}
        />
      )}
      <Panel title="Account requests">
        <Loaded query={signups} what="The requests">
          {(data) =>
            data.requests.length === 0 ? (
              <Empty isInside title="No requests">
                People who request an account appear here while OFFHOOK_SIGNUP_ENABLED is on.
              </Empty>
            ) : (
              <DataTable label="Account requests" columns={COLUMNS}>
                {data.requests.map((request) => (
                  <RequestRow key={request.id} request={request} onLink={setLink} />
                ))}
              </DataTable>
            )
          }
        </Loaded>
      </Panel>
    </Stack>
  );
}

interface RequestRowProps {
  request: Schema<"SignupRequestResponse">;
  onLink: (link: Schema<"SignInLinkCreated">) => void;
}

function RequestRow({ request, onLink }: RequestRowProps) {
  const accept = useCreateSignInLink();
  const refuse = useRefuseSignup();
  return (
    <Table.Tr>
      <Table.Td fw={600}>{request.email}</Table.Td>
      <Table.Td>{request.name}</Table.Td>
      <Table.Td>{request.organization_name}</Table.Td>
      <Table.Td c="dimmed">{request.ip}</Table.Td>
      <Table.Td c="dimmed">{formatDateTime(request.created_at)}</Table.Td>
      <Table.Td ta="right">
        <Button
          size="compact-sm"
          variant="subtle"
          loading={accept.isPending}
          onClick={() => accept.mutate(request.email, { onSuccess: onLink, onError: notifyError })}
          aria-label={`Create a link for ${request.email}`}
        >
          Create link
        </Button>
        <Button
          size="compact-sm"
          variant="subtle"
          color="red"
          loading={refuse.isPending}
          onClick={() => refuse.mutate(request.id, { onError: notifyError })}
          aria-label={`Refuse ${request.email}`}
        >
          Refuse
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}
