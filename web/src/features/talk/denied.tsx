/** Why there is no microphone, and what helps. */

import { Button, List, Text } from "@mantine/core";
import classes from "./talk-panel.module.css";

type Reason = "insecure" | "denied" | "missing" | "busy";

const TITLES: Record<Reason, string> = {
  insecure: "The browser does not allow a microphone here",
  denied: "The microphone is blocked",
  missing: "No microphone was found",
  busy: "The microphone is in use",
};

const HELP: Record<Reason, string[]> = {
  insecure: [
    "Browsers only allow microphone access over HTTPS or on this machine.",
    "Open Offhook at http://127.0.0.1 or serve it over HTTPS.",
  ],
  denied: [
    "Click the icon to the left of the address and allow the microphone for this page.",
    "If there is no such icon, allow it for your browser in your system's privacy settings.",
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
        The Chat tab works without a microphone.
      </Text>
    </div>
  );
}
