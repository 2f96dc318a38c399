/** Where a request has to go in order to place a call with this agent. */

import { Stack, Text } from "@mantine/core";
import { CopyLine } from "../../../components/forms/secret";
import type { GraphNode } from "../../../graph/definition";
import { useEditorContext } from "../state/editor";

export function TriggerAddress({ node }: { node: GraphNode }) {
  const { agent } = useEditorContext();
  const path = node.data["trigger_path"];
  if (node.type !== "trigger" || typeof path !== "string" || path === "") return null;
  return (
    <Stack gap={4}>
      <Text fz="sm" fw={600}>
        Endpoint URL
      </Text>
      <Text fz="xs" c="dimmed">
        Send a POST request with an API key (Settings → API keys) and a phone_number.
        {agent.published_version_number == null && " Works once the agent is published."}
      </Text>
      <CopyLine label="endpoint URL" value={`${window.location.origin}/api/v1/public/agent/${path}`} />
    </Stack>
  );
}
