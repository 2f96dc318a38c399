/** What one sees who came by a one-time link and has not set a password yet: there is no other way back in. */

import { Anchor, Button, Text } from "@mantine/core";
import { useSessionStorage } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { useAccount } from "../../lib/organization/organization-context";
import { Banner } from "./banner";

export function PasswordBanner() {
  const account = useAccount().data;
  const [isLater, setIsLater] = useSessionStorage({
    key: "offhook.password-later",
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  if (isLater || account?.has_password !== false) return null;
  if (account.user === null || account.impersonated || account.is_provider_session) return null;
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
      <Button size="xs" color="dark" variant="filled" onClick={() => setIsLater(true)}>
        Not now
      </Button>
    </Banner>
  );
}
