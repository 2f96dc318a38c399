/** A table that scrolls within its box where there is too little room, and is a list of cards on a telephone; with pages below it. */

import { Button, Group, Pagination, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { formatCount, singularize } from "../../lib/format/format";
import type { LongList } from "../../lib/api/long-list";
import classes from "./data-table.module.css";

export interface Column {
  title: string;
  isRight?: boolean;
  /** For a column of buttons, whose title is only read aloud. */
  isQuiet?: boolean;
  width?: number | string;
  /** The name by which the list can be put in order. */
  sort?: string;
}

export interface Sorting {
  by: string;
  order: "asc" | "desc";
  onSort: (by: string, order: "asc" | "desc") => void;
}

interface DataTableProps {
  label: string;
  columns: readonly Column[];
  minWidth?: number;
  sorting?: Sorting;
  /** For a narrow panel. */
  isTight?: boolean;
  children: ReactNode;
}

export function DataTable({ label, columns, minWidth = 640, sorting, isTight = false, children }: DataTableProps) {
  return (
    <div className={classes.scroll} tabIndex={0} role="region" aria-label={label}>
      <Table
        className={classes.table}
        style={{ "--least": `${minWidth}px`, ...labelsOf(columns) }}
        data-buttons={columns.at(-1)?.isQuiet || undefined}
        data-tight={isTight || undefined}
        highlightOnHover
        {...(isTight ? { horizontalSpacing: 10 } : {})}
      >
        <Table.Thead data-sorts={sorting !== undefined || undefined}>
          <Table.Tr>
            {columns.map((column) => (
              <Head key={column.title} column={column} sorting={sorting} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </div>
  );
}

/** What a card says before each value; the first one heads the card, and buttons speak for themselves. */
function labelsOf(columns: readonly Column[]): Record<string, string> {
  const labeled = columns.map(
    (column, index) =>
      [`--label-${index + 1}`, column.title, column.isQuiet || (index === 0 && !column.isRight)] as const,
  );
  return Object.fromEntries(
    labeled
      .filter(([, title, isBare]) => !isBare && title !== "")
      .map(([name, title]) => [name, JSON.stringify(title)]),
  );
}

function Head({ column, sorting }: { column: Column; sorting: Sorting | undefined }) {
  const isSorted = sorting !== undefined && column.sort !== undefined && sorting.by === column.sort;
  const title = column.isQuiet ? <span className={classes.quiet}>{column.title}</span> : column.title;
  const turn = () => column.sort && sorting?.onSort(column.sort, isSorted && sorting.order === "desc" ? "asc" : "desc");
  return (
    <Table.Th
      ta={column.isRight ? "right" : undefined}
      w={column.width}
      data-sorts={column.sort !== undefined || undefined}
      aria-sort={isSorted ? (sorting.order === "asc" ? "ascending" : "descending") : undefined}
    >
      {column.sort === undefined || sorting === undefined ? (
        title
      ) : (
        <button type="button" className={classes.sort} onClick={turn}>
          {title}
          <span aria-hidden="true">{isSorted ? (sorting.order === "asc" ? "↑" : "↓") : "↕"}</span>
        </button>
      )}
    </Table.Th>
  );
}

/** Below a table whose list goes on. */
export function ShowMore({ list, what }: { list: LongList<unknown>; what: string }) {
  if (list.more === null) return null;
  return (
    <Group className={classes.pager} justify="space-between">
      <Text fz="sm" c="dimmed">
        First {formatCount(list.data?.length ?? 0)} {what}
      </Text>
      <Button size="xs" variant="default" loading={list.isLoadingMore} onClick={list.more}>
        Show more
      </Button>
    </Group>
  );
}

interface PagerProps {
  page: number;
  pages: number;
  total: number;
  what: string;
  onChange: (page: number) => void;
}

export function Pager({ page, pages, total, what, onChange }: PagerProps) {
  if (total === 0) return null;
  return (
    <Group className={classes.pager} justify="space-between">
      <Text fz="sm" c="dimmed">
        {formatCount(total)} {total === 1 ? singularize(what) : what}
      </Text>
      {pages > 1 && (
        <Pagination
          size="sm"
          total={pages}
          value={page}
          onChange={onChange}
          getItemProps={(number) => ({ "aria-label": `Page ${number}` })}
          getControlProps={(control) => ({ "aria-label": `${control} page` })}
        />
      )}
    </Group>
  );
}
