/** Above every page while a superuser acts as somebody else, so that nobody forgets whose data it is. */

import { Button, Text } from "@mantine/core";
import { Eye } from "lucide-react";
import { useAccount, useWhereabouts } from "../lib/account";
import { giveBack } from "../lib/session";
import classes from "./shell.module.css";

export function BorrowedBanner() {
  const account = useAccount();
  const where = useWhereabouts();
  if (account.data?.impersonated !== true) return null;
  const leave = () => {
    giveBack();
    window.location.assign("/superuser");
  };
  return (
    <div className={classes.banner} role="status">
      <Eye size={18} aria-hidden="true" />
      <Text fz="sm" fw={600}>
        You act as {account.data.email} in {where.data?.organization.name ?? "their organisation"}. Everything you do is in the audit log with your name.
      </Text>
      <Button size="xs" color="dark" variant="filled" onClick={leave}>
        Back to yourself
      </Button>
    </div>
  );
}
