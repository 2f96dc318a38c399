/** From a try to its run: what was said, what it cost, what happened. */

import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";

export function RunLink({ agentId, runId, words }: { agentId: number; runId: number; words: string }) {
  return (
    <Button
      variant="default"
      renderRoot={(props) => <Link to="/agents/$agentId/runs/$runId" params={{ agentId, runId }} {...props} />}
    >
      {words}
    </Button>
  );
}
