/** Shown above every page while a superuser impersonates a user, as a reminder of whose data it is. */

import { Button, Text } from "@mantine/core";
import { Eye } from "lucide-react";
import { useAccount, useOrganizationContext } from "../../lib/organization/organization-context";
import { stopImpersonation } from "../../lib/api/session";
import { Banner } from "./banner";
import classes from "./shell.module.css";

export function ImpersonationBanner() {
  const account = useAccount();
  const where = useOrganizationContext();
  if (account.data?.impersonated !== true) return null;
  const leave = () => {
    stopImpersonation();
    window.location.assign("/superuser");
  };
  return (
    <Banner>
      <Eye size={18} aria-hidden="true" className={classes.bannerMore} />
      <Text fz="sm" fw={600} className={classes.bannerWords}>
        You are impersonating {account.data.email} in {where.data?.organization.name ?? "their organization"}.{" "}
        <span className={classes.bannerMore}>Everything you do is recorded in the audit log under your name.</span>
      </Text>
      <Button size="xs" color="dark" variant="filled" onClick={leave}>
        Stop impersonating
      </Button>
    </Banner>
  );
}
