/** The corner in which short messages appear. */

import { Notification } from "@mantine/core";
import { dismissNotification, useNotifications } from "../../lib/ui/notifications";
import classes from "./notices.module.css";

const COLORS = { good: "brand", info: "blue", bad: "red" } as const;

export function Notices() {
  const notices = useNotifications();
  return (
    <div className={classes.corner} role="status" aria-live="polite">
      {notices.map((notice) => (
        <Notification
          key={notice.id}
          color={COLORS[notice.tone]}
          withBorder
          radius="md"
          onClose={() => dismissNotification(notice.id)}
          closeButtonProps={{ "aria-label": "Dismiss" }}
        >
          {notice.text}
        </Notification>
      ))}
    </div>
  );
}
