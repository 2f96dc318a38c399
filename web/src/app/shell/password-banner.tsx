/** What one sees who came by a one-time link and has not set a password yet: there is no other way back in. */

import { Anchor, Button, Text } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAccount } from "../../lib/organization/organization-context";
import { Banner } from "./banner";

/** A day later the link is still used up, and the password still missing. */
const QUIET_MS = 24 * 3_600_000;

export function PasswordBanner() {
  const account = useAccount().data;
  if (account?.has_password !== false || account.user === null) return null;
  if (account.impersonated || account.is_provider_session) return null;
  return <Reminder userId={account.user.id} />;
}

function Reminder({ userId }: { userId: number }) {
  // Not of one tab: an agent or a run that is opened in a new one would bring it back.
  const [putOffAt, setPutOffAt] = useLocalStorage({
    key: `offhook.password-later.${userId}`,
    defaultValue: 0,
    getInitialValueInEffect: false,
  });
  const [openedAt] = useState(() => Date.now());
  if (openedAt < putOffAt + QUIET_MS) return null;
  return (
    <Banner>
      <Text fz="sm" fw={600}>
        You have no password yet, and your sign-in link works only once.{" "}
        <Anchor
          inherit
          c="inherit"
          underline="always"
          renderRoot={(props) => <Link to="/settings/$section" params={{ section: "account" }} {...props} />}
        >
          Set a password
        </Anchor>
      </Text>
      <Button size="xs" color="dark" variant="filled" onClick={() => setPutOffAt(Date.now())}>
        Not now
      </Button>
    </Banner>
  );
}
