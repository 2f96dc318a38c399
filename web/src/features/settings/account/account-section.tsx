/** A person's own name, password, two-step sign-in and sessions, and the deletion of their account. */

import { Badge, Button, Group, Stack, Table, Text, TextInput } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem } from "../../../components/forms/dialog";
import { DataTable } from "../../../components/tables/data-table";
import { Fact } from "../../../components/layout/fact";
import { Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { Password } from "../../../components/forms/password";
import { useAccount } from "../../../lib/organization/organization-context";
import { formatDateTime, humanize } from "../../../lib/format/format";
import { useForm } from "../../../lib/ui/use-form";
import { notifySuccess, notifyError } from "../../../lib/ui/notifications";
import { useChangeOwnName, useChangePassword, useEndSession, useSessions } from "../organization/api";
import classes from "../settings.module.css";
import { ProofProblem } from "../sign-in-again";
import { DeleteAccount } from "./delete-account";
import { SecondFactorPanel } from "./second-factor-panel";

export default function AccountSection() {
  const account = useAccount();
  return (
    <Stack gap="lg">
      <Panel title="You">
        <Loaded query={account} what="Your account" height={70}>
          {(me) => {
            const isOwn = !me.impersonated && !me.is_provider_session;
            return (
              <>
                <Group p="lg" pb={isOwn ? 0 : "lg"} gap={40}>
                  {!isOwn && <Fact name="Name" value={me.name || "–"} />}
                  <Fact name="Email" value={me.email ?? "–"} />
                  <Fact name="Role" value={humanize(me.role)} />
                  {me.is_superuser && <Fact name="Access" value="Superuser" />}
                </Group>
                {isOwn && <OwnName name={me.name ?? ""} />}
              </>
            );
          }}
        </Loaded>
      </Panel>
      {account.data?.impersonated === false && (
        <>
          {account.data.is_provider_session ? (
            <Panel title="Sign-in">
              <Text p="lg" fz="sm">
                You signed in with your organization&apos;s identity provider. This session is limited to this
                organization. You cannot change your password or two-step sign-in here.
              </Text>
            </Panel>
          ) : (
            <>
              <PasswordPanel hasPassword={account.data.has_password} />
              <SecondFactorPanel />
            </>
          )}
          <Sessions />
          {!account.data.is_provider_session && <DeleteAccount />}
        </>
      )}
    </Stack>
  );
}

/** As the members of the person's organizations see it. */
export function OwnName({ name }: { name: string }) {
  const change = useChangeOwnName();
  const form = useForm({ name }, change.error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    change.mutate(form.values.name, { onSuccess: () => notifySuccess("Name saved.") });
  };
  return (
    <form onSubmit={submit} className={classes.form} noValidate>
      <TextInput label="Name" autoComplete="name" {...form.text("name")} />
      <FormProblem words={form.problem} />
      <div>
        <Button type="submit" loading={change.isPending} disabled={form.values.name.trim() === name}>
          Save
        </Button>
      </div>
    </form>
  );
}

/** Asks for the current password only where there is one. */
export function PasswordPanel({ hasPassword }: { hasPassword: boolean }) {
  const change = useChangePassword();
  const form = useForm({ current_password: "", new_password: "" }, change.error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const { current_password, new_password } = form.values;
    change.mutate(
      { new_password, ...(hasPassword ? { current_password } : {}) },
      {
        onSuccess: () => {
          notifySuccess(`Password ${hasPassword ? "changed" : "set"}. Your other sessions have ended.`);
          form.reset();
        },
      },
    );
  };
  return (
    <Panel title="Password">
      <form onSubmit={submit} className={classes.form} noValidate>
        {hasPassword ? (
          <Password label="Current password" autoComplete="current-password" {...form.text("current_password")} />
        ) : (
          <Text fz="sm">You have no password yet. Set one to sign in without a link.</Text>
        )}
        <Password
          label="New password"
          description="At least 8 characters"
          autoComplete="new-password"
          {...form.text("new_password")}
        />
        <ProofProblem error={change.error} words={form.problem} what="set a password" />
        <div>
          <Button type="submit" loading={change.isPending}>
            {hasPassword ? "Change password" : "Set a password"}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

function Sessions() {
  const sessions = useSessions();
  const end = useEndSession();
  return (
    <Panel title="Sessions">
      <Loaded query={sessions} what="Your sessions">
        {(data) => (
          <DataTable
            label="Sessions"
            columns={[
              { title: "Signed in" },
              { title: "Expires" },
              { title: "Type" },
              { title: "Actions", isQuiet: true },
            ]}
            minWidth={520}
          >
            {data.map((session) => (
              <Table.Tr key={session.id}>
                <Table.Td fw={600}>{formatDateTime(session.created_at)}</Table.Td>
                <Table.Td c="dimmed">{formatDateTime(session.expires_at)}</Table.Td>
                <Table.Td>
                  {session.is_current ? (
                    <Badge>This browser</Badge>
                  ) : session.is_impersonated ? (
                    <Badge color="yellow">Superuser impersonating you</Badge>
                  ) : (
                    "Another browser"
                  )}
                </Table.Td>
                <Table.Td ta="right">
                  {!session.is_current && (
                    <Button
                      size="compact-sm"
                      variant="subtle"
                      color="red"
                      onClick={() => end.mutate(session.id, { onError: notifyError })}
                      aria-label={`End session ${session.id}, since ${formatDateTime(session.created_at)}`}
                    >
                      End
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </Loaded>
    </Panel>
  );
}
