/** How kinds of steps look: an icon and a color. Kinds that this page does not know get a plain one. */

import {
  Box,
  ClipboardCheck,
  Globe,
  Headset,
  Link2,
  type LucideIcon,
  PhoneOff,
  Play,
  StickyNote,
  Unplug,
  Webhook,
} from "lucide-react";
import classes from "./kinds.module.css";

const ICONS: Record<string, LucideIcon> = { Play, Headset, PhoneOff, Globe, Webhook, Link2, ClipboardCheck, Unplug };

export function KindIcon({ kind, icon, size = 15 }: { kind: string; icon: string | undefined; size?: number }) {
  const Icon = ICONS[icon ?? ""] ?? Box;
  return (
    <span className={classes.icon} data-kind={kind} style={{ width: size + 13, height: size + 13 }} aria-hidden="true">
      <Icon size={size} strokeWidth={2} />
    </span>
  );
}

export function NoteIcon({ size = 15 }: { size?: number }) {
  return (
    <span className={classes.icon} data-kind="note" style={{ width: size + 13, height: size + 13 }} aria-hidden="true">
      <StickyNote size={size} strokeWidth={2} />
    </span>
  );
}
