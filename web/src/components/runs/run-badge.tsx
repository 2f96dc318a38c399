/** How a run went, in one word and one color. */

import { Badge } from "@mantine/core";
import { humanize } from "../../lib/format/format";

const COLORS: Record<string, string> = {
  answered: "brand",
  transferred: "blue",
  not_understood: "orange",
  voicemail: "violet",
  in_progress: "brand",
  busy: "yellow",
  no_answer: "yellow",
  failed: "red",
  error: "red",
  canceled: "gray",
};

export function RunBadge({ status, outcome }: { status: string; outcome: string | null | undefined }) {
  const isLive = ["initiated", "ringing", "in_progress"].includes(status);
  const word = isLive || status === "failed" ? status : (outcome ?? status);
  return (
    <Badge variant={isLive ? "dot" : "light"} color={COLORS[word] ?? "gray"} miw="max-content">
      {humanize(word)}
    </Badge>
  );
}
