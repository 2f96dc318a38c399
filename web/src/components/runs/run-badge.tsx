/** How a run went, in one word and one color. */

import { Badge } from "@mantine/core";
import { outcomeBadgeColor } from "../../lib/format/colors";
import { humanize } from "../../lib/format/format";

export function RunBadge({ status, outcome }: { status: string; outcome: string | null | undefined }) {
  const isLive = ["initiated", "ringing", "in_progress"].includes(status);
  const word = isLive || status === "failed" ? status : (outcome ?? status);
  return (
    <Badge variant={isLive ? "dot" : "light"} color={outcomeBadgeColor(word)} miw="max-content">
      {humanize(word)}
    </Badge>
  );
}
