/** The dots behind the steps. They lie in what is moved, so that all of it is one layer that the browser only shifts while it is panned. */

import { ViewportPortal } from "@xyflow/react";
import classes from "./background.module.css";

export function CanvasBackground() {
  return (
    <ViewportPortal>
      <div className={classes.dots} />
    </ViewportPortal>
  );
}
