/** The frame of every page behind the sign-in: name, account, colour scheme. */

import { ActionIcon, Button, Container, Group, Menu, Text, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { useAccount, useSignOut } from "../features/auth";
import { Logo } from "../components/logo";
import { useToken } from "../lib/session";
import classes from "./shell.module.css";

export function Shell() {
  const navigate = useNavigate();
  const token = useToken();
  useEffect(() => {
    if (token === null) void navigate({ to: "/sign-in", replace: true });
  }, [token, navigate]);
  return (
    <>
      <a href="#content" className={classes.skip}>
        Skip to content
      </a>
      <header className={classes.header}>
        <Container size={1320} h="100%">
          <Group h="100%" justify="space-between">
            <Link to="/" className={classes.home} aria-label="Offhook: all agents">
              <Logo />
            </Link>
            <Group gap={6}>
              <SchemeToggle />
              <AccountMenu />
            </Group>
          </Group>
        </Container>
      </header>
      <main id="content">
        <Container size={1320} py="xl">
          <Outlet />
        </Container>
      </main>
    </>
  );
}

function SchemeToggle() {
  const scheme = useComputedColorScheme("light");
  const { setColorScheme } = useMantineColorScheme();
  const other = scheme === "light" ? "dark" : "light";
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Switch to ${other} colours`} onClick={() => setColorScheme(other)}>
      <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
        <circle cx="9" cy="9" r="7" fill="none" stroke="currentColor" strokeWidth="1.6" />
        <path d="M9 2a7 7 0 0 1 0 14z" fill="currentColor" />
      </svg>
    </ActionIcon>
  );
}

function AccountMenu() {
  const account = useAccount();
  const signOut = useSignOut();
  const name = account.data?.name || account.data?.email || "Account";
  return (
    <Menu position="bottom-end" width={240} withinPortal>
      <Menu.Target>
        <Button variant="subtle" color="gray" size="sm">
          {name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {account.data && (
          <>
            <Menu.Label>
              <Text fz="xs" truncate>
                {account.data.email} · {account.data.role}
              </Text>
            </Menu.Label>
            <Menu.Divider />
          </>
        )}
        <Menu.Item onClick={() => signOut.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
