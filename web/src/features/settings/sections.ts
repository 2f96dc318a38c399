/** The parts of the settings: their names, and who sees them. */

import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import type { Permissions } from "../../lib/organization/organization-context";

export interface Section {
  key: string;
  title: string;
  group: "Organization" | "Building blocks" | "Connections" | "You";
  isFor: (permissions: Permissions) => boolean;
  page: LazyExoticComponent<ComponentType>;
}

const everybody = () => true;
const admins = (permissions: Permissions) => permissions.admin;

export const SECTIONS: readonly Section[] = [
  {
    key: "organization",
    title: "General",
    group: "Organization",
    isFor: everybody,
    page: lazy(() => import("./organization/organization-section")),
  },
  {
    key: "members",
    title: "Members",
    group: "Organization",
    isFor: admins,
    page: lazy(() => import("./members/members-section")),
  },
  {
    key: "audit",
    title: "Audit log",
    group: "Organization",
    isFor: admins,
    page: lazy(() => import("./organization/audit-section")),
  },
  {
    key: "models",
    title: "Models",
    group: "Building blocks",
    isFor: everybody,
    page: lazy(() => import("./models/models-section")),
  },
  {
    key: "tools",
    title: "Tools",
    group: "Building blocks",
    isFor: everybody,
    page: lazy(() => import("./tools/tools-section")),
  },
  {
    key: "credentials",
    title: "Credentials",
    group: "Building blocks",
    isFor: everybody,
    page: lazy(() => import("./credentials/credentials-section")),
  },
  {
    key: "do-not-call",
    title: "Do not call",
    group: "Building blocks",
    isFor: everybody,
    page: lazy(() => import("./do-not-call/do-not-call-section")),
  },
  {
    key: "calls",
    title: "Call policy",
    group: "Building blocks",
    isFor: everybody,
    page: lazy(() => import("./call-policy/call-policy-section")),
  },
  {
    key: "keys",
    title: "API keys",
    group: "Connections",
    isFor: admins,
    page: lazy(() => import("./keys/keys-section")),
  },
  {
    key: "webhooks",
    title: "Webhooks",
    group: "Connections",
    isFor: admins,
    page: lazy(() => import("./webhooks/webhooks-section")),
  },
  {
    key: "account",
    title: "Account",
    group: "You",
    isFor: everybody,
    page: lazy(() => import("./account/account-section")),
  },
];

export const GROUPS = ["Organization", "Building blocks", "Connections", "You"] as const;
