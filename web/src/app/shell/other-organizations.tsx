/** Buttons to one's other organizations, where the current one is closed. */

import { Button } from "@mantine/core";
import { useOrganizations, useSwitch } from "../../features/auth";

export function OtherOrganizations() {
  const memberships = useOrganizations();
  const switching = useSwitch();
  return (memberships.data ?? [])
    .filter((membership) => !membership.is_current)
    .map((membership) => (
      <Button
        key={membership.id}
        variant="default"
        disabled={switching.isPending}
        onClick={() => switching.mutate(membership.id)}
      >
        Go to {membership.name}
      </Button>
    ));
}
