/** A titled box: what every part of a page stands in. */

import type { ReactNode, Ref } from "react";
import classes from "./panel.module.css";

interface PanelProps {
  title: ReactNode;
  right?: ReactNode;
  children: ReactNode;
  className?: string;
  ref?: Ref<HTMLElement>;
}

export function Panel({ title, right, children, className, ref }: PanelProps) {
  return (
    <section ref={ref} className={[classes.panel, className].join(" ")}>
      <header className={classes.head}>
        {typeof title === "string" ? <h2 className={classes.title}>{title}</h2> : title}
        {right}
      </header>
      {children}
    </section>
  );
}
