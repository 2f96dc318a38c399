/** A row of a table that leads somewhere when it is clicked anywhere; the real link, for keyboards, is in one of its cells. */

import { Table } from "@mantine/core";
import type { MouseEvent, ReactNode } from "react";
import classes from "./data-table.module.css";

export const nameClass = classes.name;

interface LinkRowProps {
  onOpen: () => void;
  /** It goes on with the row above it. */
  isBelow?: boolean;
  children: ReactNode;
}

export function LinkRow({ onOpen, isBelow = false, children }: LinkRowProps) {
  const open = (event: MouseEvent) => {
    if (event.target instanceof Element && event.target.closest("a, button, input, label") === null) onOpen();
  };
  return (
    <Table.Tr className={classes.row} data-below={isBelow || undefined} onClick={open}>
      {children}
    </Table.Tr>
  );
}
