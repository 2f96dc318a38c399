/** The frame of every page behind the sign-in: the places, the account, the colors, and who one really is. */

import { ActionIcon, AppShell, Burger, Group, Tooltip } from "@mantine/core";
import { useDisclosure, useLocalStorage } from "@mantine/hooks";
import { Link, Outlet, useMatches, useNavigate } from "@tanstack/react-router";
import { PanelLeftClose, PanelLeftOpen } from "lucide-react";
import { Suspense, useEffect } from "react";
import { Logo } from "../../components/layout/logo";
import { Notices } from "../../components/feedback/notices";
import { useToken, hasExpired } from "../../lib/api/session";
import { useAccount } from "../../lib/organization/organization-context";
import { PaletteKey } from "../palette/palette-key";
import { AccountMenu, SchemeToggle } from "./account-menu";
import { ImpersonationBanner } from "./impersonation-banner";
import { Nav } from "./nav";
import { PasswordBanner } from "./password-banner";
import { ProviderGate } from "./provider-gate";
import { SecondFactorBanner, SecondFactorGate, useSecondFactorDue } from "./second-factor-notice";
import classes from "./shell.module.css";

export function Shell() {
  const [isOpen, menu] = useDisclosure(false);
  const isWide = useMatches({ select: (matches) => matches.some((match) => match.staticData.isWide === true) });
  const [isNarrow, setIsNarrow] = useNarrowMenu(isWide);
  useSignInWhenSignedOut();
  const due = useSecondFactorDue();
  const providerName = useAccount().data?.provider_sign_in_name ?? null;
  if (providerName !== null)
    return (
      <>
        <ProviderGate name={providerName} />
        <Notices />
      </>
    );
  if (due !== null && due <= new Date())
    return (
      <>
        <SecondFactorGate />
        <Notices />
      </>
    );
  return (
    <AppShell
      layout="alt"
      header={{ height: { base: 56, md: 0 } }}
      navbar={{ width: isNarrow ? 68 : 228, breakpoint: "md", collapsed: { mobile: !isOpen } }}
      withBorder={false}
    >
      <a href="#content" className={classes.skip}>
        Skip to content
      </a>
      <AppShell.Header className={classes.bar} hiddenFrom="md">
        <Group h="100%" px="md" justify="space-between">
          <Home />
          <Burger
            opened={isOpen}
            onClick={menu.toggle}
            size="sm"
            aria-label={isOpen ? "Close menu" : "Open menu"}
            aria-expanded={isOpen}
          />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.side} data-narrow={isNarrow || undefined}>
        <Group className={classes.top} justify="space-between" wrap="nowrap">
          <Home />
          <Burger opened={isOpen} onClick={menu.close} size="sm" hiddenFrom="md" aria-label="Close menu" />
        </Group>
        <Nav isNarrow={isNarrow} onGo={menu.close} />
        <div className={classes.bottom}>
          <AccountMenu isNarrow={isNarrow} />
          <Group gap={4} className={classes.tools}>
            <SchemeToggle />
            <Tooltip label={isNarrow ? "Expand menu" : "Collapse menu"} position="right">
              <ActionIcon
                variant="subtle"
                color="gray"
                size="lg"
                visibleFrom="md"
                aria-label={isNarrow ? "Expand menu" : "Collapse menu"}
                onClick={() => setIsNarrow(!isNarrow)}
              >
                {isNarrow ? (
                  <PanelLeftOpen size={18} strokeWidth={1.8} />
                ) : (
                  <PanelLeftClose size={18} strokeWidth={1.8} />
                )}
              </ActionIcon>
            </Tooltip>
          </Group>
        </div>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} className={classes.main}>
        <ImpersonationBanner />
        <SecondFactorBanner />
        <PasswordBanner />
        <div className={classes.page} data-wide={isWide || undefined}>
          <Suspense fallback={null}>
            <Outlet />
          </Suspense>
        </div>
      </AppShell.Main>
      <Notices />
      <PaletteKey />
    </AppShell>
  );
}

/** Whether the menu shows icons only: by choice, and in the editor unless somebody wants it wide there. */
function useNarrowMenu(isWide: boolean) {
  const isInEffect = { getInitialValueInEffect: false };
  const pages = useLocalStorage({ key: "offhook.narrow", defaultValue: false, ...isInEffect });
  const editor = useLocalStorage({ key: "offhook.narrow.editor", defaultValue: true, ...isInEffect });
  return isWide ? editor : pages;
}

function Home() {
  return (
    <Link to="/" className={classes.home} aria-label="Offhook: all agents">
      <Logo />
    </Link>
  );
}

/** Back to the door when the token is gone; and after an expiry from there to the same page. */
function useSignInWhenSignedOut(): void {
  const token = useToken();
  const navigate = useNavigate();
  useEffect(() => {
    if (token !== null) return;
    const next = window.location.pathname + window.location.search;
    void navigate({ to: "/sign-in", search: hasExpired() && next !== "/" ? { next } : {}, replace: true });
  }, [token, navigate]);
}
