/** The state of a campaign in one word and one color. */

import { Badge } from "@mantine/core";
import { humanize } from "../../lib/format/format";

const COLORS: Record<string, string> = {
  draft: "gray",
  running: "brand",
  paused: "yellow",
  completed: "blue",
  failed: "red",
};

export function CampaignBadge({ status }: { status: string }) {
  return (
    <Badge color={COLORS[status] ?? "gray"} variant={status === "running" ? "dot" : "light"}>
      {humanize(status)}
    </Badge>
  );
}
