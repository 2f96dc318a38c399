/** Why there is no microphone, and what helps. */

import { Button, List, Text } from "@mantine/core";
import classes from "./talk-panel.module.css";

type Reason = "insecure" | "denied" | "missing" | "busy";

const TITLES: Record<Reason, string> = {
  insecure: "The browser allows no microphone here",
  denied: "The microphone is blocked",
  missing: "No microphone was found",
  busy: "The microphone is in use",
};

const HELP: Record<Reason, string[]> = {
  insecure: [
    "Browsers share the microphone only with https addresses and with this machine itself.",
    "Open Offhook at http://127.0.0.1 or put it behind https.",
  ],
  denied: [
    "Click the icon left of the address and allow the microphone for this page.",
    "If there is no such icon, allow it for your browser in the privacy settings of the system.",
  ],
  missing: ["Connect a microphone or a headset.", "Check that the system lists it as an input device."],
  busy: ["Close other programs and tabs that use the microphone."],
};

export function Denied({ reason, onRetry }: { reason: Reason; onRetry: () => void }) {
  return (
    <div className={classes.stage} role="alert">
      <p className={classes.big}>{TITLES[reason]}</p>
      <List fz="sm" maw={440} spacing={4}>
        {HELP[reason].map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
      <Button onClick={onRetry}>Try again</Button>
      <Text fz="sm" c="dimmed">
        The text chat beside works without a microphone.
      </Text>
    </div>
  );
}
