/** The parts of the settings: their names, and who sees them. */

import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import type { May } from "../../lib/account";

export interface Section {
  key: string;
  title: string;
  group: "Organisation" | "Building blocks" | "Connections" | "You";
  isFor: (may: May) => boolean;
  page: LazyExoticComponent<ComponentType>;
}

const everybody = () => true;
const admins = (may: May) => may.admin;

export const SECTIONS: readonly Section[] = [
  {
    key: "organization",
    title: "General",
    group: "Organisation",
    isFor: everybody,
    page: lazy(() => import("./organization_section")),
  },
  {
    key: "members",
    title: "Members",
    group: "Organisation",
    isFor: admins,
    page: lazy(() => import("./members_section")),
  },
  {
    key: "audit",
    title: "Audit log",
    group: "Organisation",
    isFor: admins,
    page: lazy(() => import("./audit_section")),
  },
  {
    key: "models",
    title: "Models",
    group: "Building blocks",
    isFor: everybody,
    page: lazy(() => import("./models_section")),
  },
  {
    key: "tools",
    title: "Tools",
    group: "Building blocks",
    isFor: everybody,
    page: lazy(() => import("./tools_section")),
  },
  {
    key: "credentials",
    title: "Credentials",
    group: "Building blocks",
    isFor: everybody,
    page: lazy(() => import("./credentials_section")),
  },
  {
    key: "do-not-call",
    title: "Do not call",
    group: "Building blocks",
    isFor: everybody,
    page: lazy(() => import("./do_not_call_section")),
  },
  { key: "keys", title: "API keys", group: "Connections", isFor: admins, page: lazy(() => import("./keys_section")) },
  {
    key: "webhooks",
    title: "Webhooks",
    group: "Connections",
    isFor: admins,
    page: lazy(() => import("./webhooks_section")),
  },
  { key: "account", title: "Account", group: "You", isFor: everybody, page: lazy(() => import("./account_section")) },
];

export const GROUPS = ["Organisation", "Building blocks", "Connections", "You"] as const;
