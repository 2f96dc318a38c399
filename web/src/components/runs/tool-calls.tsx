/** What tools were asked and what they answered. */

import { Loader } from "@mantine/core";
import { Check, CircleAlert } from "lucide-react";
import type { ToolCall } from "../../lib/live/live-run";
import classes from "./tool-calls.module.css";

export function ToolCalls({ calls }: { calls: readonly ToolCall[] }) {
  if (calls.length === 0) return null;
  return (
    <ul className={classes.calls} aria-label="Tool calls">
      {calls.map((call, index) => (
        <li key={index}>
          {call.isOk === undefined ? (
            <Loader size={12} />
          ) : call.isOk ? (
            <Check size={14} className={classes.good} aria-label="Succeeded" />
          ) : (
            <CircleAlert size={14} className={classes.bad} aria-label="Failed" />
          )}
          <b>{call.name}</b>
          <code>{call.arguments === null ? "" : JSON.stringify(call.arguments)}</code>
          {call.result !== "" && <span title={call.result}>{call.result}</span>}
        </li>
      ))}
    </ul>
  );
}
