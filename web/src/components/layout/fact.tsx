/** A name and its value, and a big figure with its name. */

import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./fact.module.css";

export function Fact({ name, value }: { name: string; value: ReactNode }) {
  return (
    <div>
      <Text fz="xs" c="dimmed">
        {name}
      </Text>
      <Text component="div" fz="sm" fw={600}>
        {value}
      </Text>
    </div>
  );
}

export function Figures({ children }: { children: ReactNode }) {
  return <dl className={classes.figures}>{children}</dl>;
}

export function Figure({ name, value, note }: { name: string; value: ReactNode; note?: ReactNode }) {
  return (
    <div className={classes.figure}>
      <dt>{name}</dt>
      <dd>
        {value}
        {note && <span className={classes.note}>{note}</span>}
      </dd>
    </div>
  );
}
