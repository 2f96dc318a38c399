/** A line above every page. */

import type { ReactNode } from "react";
import classes from "./shell.module.css";

/** Pages that fill the window leave it as much as it is high. */
function leaveRoom(banner: HTMLDivElement) {
  const root = document.documentElement.style;
  const observer = new ResizeObserver(() => root.setProperty("--banner-height", `${banner.offsetHeight}px`));
  observer.observe(banner);
  return () => {
    observer.disconnect();
    root.removeProperty("--banner-height");
  };
}

export function Banner({ children }: { children: ReactNode }) {
  return (
    <div ref={leaveRoom} className={classes.banner} role="status">
      {children}
    </div>
  );
}
