/** How the conversations of an agent went, as a line of colors that says its figures. */

import { Tooltip } from "@mantine/core";
import { outcomeColor } from "../../lib/format/colors";
import { formatCount, humanize } from "../../lib/format/format";
import classes from "./usage.module.css";

export function OutcomeBar({ outcomes, of }: { outcomes: Record<string, number>; of: string }) {
  const shown = Object.entries(outcomes)
    .filter(([, value]) => value > 0)
    .sort(([, a], [, b]) => b - a);
  const said = shown.map(([name, value]) => `${humanize(name)} ${formatCount(value)}`).join(", ");
  if (said === "") return <>–</>;
  return (
    <Tooltip label={said}>
      <div className={classes.outcomes} role="img" aria-label={`${of}: ${said}`}>
        {shown.map(([name, value]) => (
          <i key={name} style={{ background: outcomeColor(name), flexGrow: value }} />
        ))}
      </div>
    </Tooltip>
  );
}
