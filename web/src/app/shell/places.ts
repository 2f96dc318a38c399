/** The places of the product. */

import type { LinkProps } from "@tanstack/react-router";
import {
  BookOpen,
  Bot,
  ChartColumn,
  LayoutDashboard,
  type LucideIcon,
  Megaphone,
  MessagesSquare,
  Phone,
  Settings,
  ShieldCheck,
} from "lucide-react";

export interface Place {
  to: NonNullable<LinkProps["to"]>;
  title: string;
  icon: LucideIcon;
  /** Addresses that belong to it; its own always does. */
  covers?: RegExp;
}

export const PLACES: readonly Place[] = [
  { to: "/overview", title: "Overview", icon: LayoutDashboard },
  { to: "/", title: "Agents", icon: Bot, covers: /^\/agents\/\d+\/?$/ },
  { to: "/runs", title: "Runs", icon: MessagesSquare, covers: /\/runs\// },
  { to: "/campaigns", title: "Campaigns", icon: Megaphone, covers: /^\/campaigns/ },
  { to: "/knowledge", title: "Knowledge", icon: BookOpen },
  { to: "/phone", title: "Phone", icon: Phone },
  { to: "/usage", title: "Usage", icon: ChartColumn },
  { to: "/settings", title: "Settings", icon: Settings, covers: /^\/settings/ },
];

export const SUPERUSER: Place = { to: "/superuser", title: "Superuser", icon: ShieldCheck };
