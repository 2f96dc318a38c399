/** Whose page this is: the organization, the person, other organizations, signing out; and the colors. */

import {
  ActionIcon,
  Avatar,
  Menu,
  Text,
  Tooltip,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Building2, Check, ChevronsUpDown, LogOut, Moon, Sun, UserRound } from "lucide-react";
import { useOrganizations, useSignOut, useSwitch } from "../../features/auth";
import { useAccount, useOrganizationContext } from "../../lib/organization/organization-context";
import { humanize } from "../../lib/format/format";
import classes from "./shell.module.css";

export function SchemeToggle() {
  const scheme = useComputedColorScheme("light");
  const { setColorScheme } = useMantineColorScheme();
  const other = scheme === "light" ? "dark" : "light";
  return (
    <Tooltip label={`${humanize(other)} theme`} position="right">
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={`Switch to ${other} theme`}
        onClick={() => setColorScheme(other)}
      >
        {other === "dark" ? <Moon size={18} strokeWidth={1.8} /> : <Sun size={18} strokeWidth={1.8} />}
      </ActionIcon>
    </Tooltip>
  );
}

export function AccountMenu({ isNarrow }: { isNarrow: boolean }) {
  const account = useAccount();
  const where = useOrganizationContext();
  const signOut = useSignOut();
  const name = account.data?.name || account.data?.email || "Account";
  return (
    <Menu position="top-start" width={260} withinPortal>
      <Menu.Target>
        <UnstyledButton className={classes.account} aria-label={isNarrow ? `Account: ${name}` : undefined}>
          <Avatar size={30} radius="xl" color="brand" variant="filled" aria-hidden="true">
            {name.charAt(0).toUpperCase()}
          </Avatar>
          <span className={classes.accountWords}>
            <Text span fz="sm" fw={600} truncate lh={1.25}>
              {name}
            </Text>
            <Text span fz="xs" c="dimmed" truncate lh={1.25}>
              {where.data?.organization.name ?? ""}
            </Text>
          </span>
          <ChevronsUpDown size={15} aria-hidden="true" className={classes.accountWords} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {account.data && (
          <Menu.Label>
            {account.data.email} · {humanize(account.data.role)}
          </Menu.Label>
        )}
        <Menu.Item
          leftSection={<UserRound size={16} />}
          renderRoot={(props) => <Link to="/settings/$section" params={{ section: "account" }} {...props} />}
        >
          Your account
        </Menu.Item>
        <Organizations />
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={16} />} onClick={() => signOut.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Only for people who are in several. */
function Organizations() {
  const memberships = useOrganizations();
  const switching = useSwitch();
  if (memberships.data === undefined || memberships.data.length < 2) return null;
  return (
    <>
      <Menu.Divider />
      <Menu.Label>Organizations</Menu.Label>
      {memberships.data.map((membership) => (
        <Menu.Item
          key={membership.id}
          leftSection={<Building2 size={16} />}
          rightSection={membership.is_current ? <Check size={16} aria-label="Current organization" /> : undefined}
          disabled={switching.isPending}
          onClick={() => membership.is_current || switching.mutate(membership.id)}
        >
          {membership.name}
        </Menu.Item>
      ))}
    </>
  );
}
