/** The places of the product, on the left: a list of words and signs, of signs alone when there is little room. */

import { Tooltip } from "@mantine/core";
import { Link, useRouterState } from "@tanstack/react-router";
import { useAccount } from "../../lib/organization/organization-context";
import { PLACES, SUPERUSER } from "./places";
import classes from "./shell.module.css";

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
