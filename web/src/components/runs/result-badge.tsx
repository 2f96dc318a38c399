/** What a call came to, in its agent's words: green for a success, red for a failure. */

import { Badge, Tooltip } from "@mantine/core";

interface ResultBadgeProps {
  result: string | null;
  isSuccess: boolean | null;
}

export function ResultBadge({ result, isSuccess }: ResultBadgeProps) {
  if (result === null && isSuccess === null) return <>–</>;
  const said = isSuccess === null ? null : isSuccess ? "Success" : "Failure";
  const badge = (
    <Badge variant="light" color={isSuccess === null ? "gray" : isSuccess ? "brand" : "red"} miw="max-content">
      {result ?? said}
    </Badge>
  );
  if (said === null || result === null) return badge;
  return <Tooltip label={said}>{badge}</Tooltip>;
}
