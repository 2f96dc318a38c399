/** What a chart says of the place under the pointer. */

import classes from "./chart.module.css";

interface Entry {
  name?: string | number;
  value?: unknown;
  color?: string;
}

interface TooltipBoxProps {
  active?: boolean;
  label?: unknown;
  payload?: readonly Entry[];
  show?: (value: number) => string;
}

export function TooltipBox({
  active = false,
  label,
  payload = [],
  show = (value) => value.toLocaleString("en"),
}: TooltipBoxProps) {
  if (!active || payload.length === 0) return null;
  return (
    <div className={classes.tooltip}>
      <b>{String(label)}</b>
      {payload.map((entry) => (
        <span key={entry.name}>
          <i style={{ background: entry.color }} />
          {entry.name} <em>{typeof entry.value === "number" ? show(entry.value) : "–"}</em>
        </span>
      ))}
    </div>
  );
}
