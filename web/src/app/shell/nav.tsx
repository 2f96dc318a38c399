/** The places of the product, on the left: a list of words and signs, of signs alone when there is little room. */

import { Tooltip } from "@mantine/core";
import { Link, type LinkProps, useRouterState } from "@tanstack/react-router";
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
import { useAccount } from "../../lib/organization/organization-context";
import classes from "./shell.module.css";

interface Place {
  to: NonNullable<LinkProps["to"]>;
  title: string;
  icon: LucideIcon;
  /** Addresses that belong to it; its own always does. */
  covers?: RegExp;
}

const PLACES: readonly Place[] = [
  { to: "/overview", title: "Overview", icon: LayoutDashboard },
  { to: "/", title: "Agents", icon: Bot, covers: /^\/agents\/\d+\/?$/ },
  { to: "/runs", title: "Runs", icon: MessagesSquare, covers: /\/runs\// },
  { to: "/campaigns", title: "Campaigns", icon: Megaphone, covers: /^\/campaigns/ },
  { to: "/knowledge", title: "Knowledge", icon: BookOpen },
  { to: "/phone", title: "Phone", icon: Phone },
  { to: "/usage", title: "Usage", icon: ChartColumn },
  { to: "/settings", title: "Settings", icon: Settings, covers: /^\/settings/ },
];

const SUPERUSER: Place = { to: "/superuser", title: "Superuser", icon: ShieldCheck };

export function Nav({ isNarrow, onGo }: { isNarrow: boolean; onGo: () => void }) {
  const here = useRouterState({ select: (state) => state.location.pathname });
  const isSuperuser = useAccount().data?.is_superuser === true;
  const places = isSuperuser ? [...PLACES, SUPERUSER] : PLACES;
  return (
    <nav aria-label="Main" className={classes.nav}>
      {places.map((place) => {
        const isHere = here === place.to || place.covers?.test(here) === true;
        return (
          <Tooltip key={place.to} label={place.title} position="right" disabled={!isNarrow}>
            <Link
              to={place.to}
              className={classes.place}
              data-here={isHere || undefined}
              aria-current={isHere ? "page" : undefined}
              onClick={onGo}
            >
              <place.icon size={18} strokeWidth={1.8} aria-hidden="true" />
              <span className={classes.placeName}>{place.title}</span>
            </Link>
          </Tooltip>
        );
      })}
    </nav>
  );
}
