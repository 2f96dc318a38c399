/** The hours of a week to paint with the mouse, a finger or the arrow keys. */

import { Button, Group, Text } from "@mantine/core";
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import { formatTimeOfDay, humanize } from "../../../lib/format/format";
import { DAYS, HALF_HOURS, describeWeek, openHours, paintHours, PRESETS, slotsOf, timeOf, type Week } from "./week";
import classes from "./week-grid.module.css";

type Cell = readonly [number, number];

interface Stroke {
  from: Cell;
  to: Cell;
  isOpen: boolean;
}

export function WeekGrid({ week, onChange }: { week: Week; onChange: (week: Week) => void }) {
  const [stroke, setStroke] = useState<Stroke | null>(null);
  const [cursor, setCursor] = useState<Cell>([0, 18]);
  const grid = useRef<HTMLDivElement>(null);
  const isMoved = useRef(false);
  const shown = stroke === null ? week : paintHours(week, stroke.from, stroke.to, stroke.isOpen);
  useEffect(() => {
    if (isMoved.current) grid.current?.querySelector<HTMLElement>(`[data-cell="${cursor.join()}"]`)?.focus();
    isMoved.current = false;
  }, [cursor]);

  const begin = (event: PointerEvent) => {
    const cell = cellAt(event);
    if (cell === null || event.button !== 0) return;
    event.preventDefault();
    setCursor(cell);
    setStroke({ from: cell, to: cell, isOpen: !week[cell[0]]?.[cell[1]] });
  };
  const move = (event: PointerEvent) => {
    const cell = stroke === null ? null : cellAt(event);
    if (stroke !== null && cell !== null) setStroke({ ...stroke, to: cell });
  };
  const finish = () => {
    if (stroke !== null) onChange(shown);
    setStroke(null);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      onChange(paintHours(week, cursor, cursor, !week[cursor[0]]?.[cursor[1]]));
    } else if (step) {
      event.preventDefault();
      const next: Cell = [
        clamp(cursor[0] + (step[0] ?? 0), DAYS.length),
        clamp(cursor[1] + (step[1] ?? 0), HALF_HOURS),
      ];
      isMoved.current = true;
      if (event.shiftKey) onChange(paintHours(week, cursor, next, Boolean(week[cursor[0]]?.[cursor[1]])));
      setCursor(next);
    }
  };
  return (
    <div>
      <Group gap="xs" mb="sm">
        {PRESETS.map((preset) => (
          <Button key={preset.name} size="compact-sm" variant="default" onClick={() => onChange(preset.week)}>
            {preset.name}
          </Button>
        ))}
      </Group>
      <div className={classes.scroll}>
        <div
          ref={grid}
          className={classes.grid}
          role="grid"
          tabIndex={-1}
          aria-label="Calling hours"
          onPointerDown={begin}
          onPointerMove={move}
          onPointerUp={finish}
          onPointerLeave={finish}
          onPointerCancel={() => setStroke(null)}
          onKeyDown={press}
        >
          <div className={classes.row} aria-hidden="true">
            <span />
            {Array.from({ length: 12 }, (_, index) => (
              <span key={index} className={classes.hour}>
                {formatTimeOfDay(timeOf(index * 4))}
              </span>
            ))}
          </div>
          {DAYS.map((name, day) => (
            <div key={name} className={classes.row} role="row">
              <span className={classes.day} role="rowheader">
                {humanize(name).slice(0, 3)}
              </span>
              {Array.from({ length: HALF_HOURS }, (_, half) => (
                <span
                  key={half}
                  role="gridcell"
                  className={classes.cell}
                  data-cell={`${day},${half}`}
                  data-open={shown[day]?.[half] || undefined}
                  data-full={half % 2 === 0 || undefined}
                  aria-selected={shown[day]?.[half] === true}
                  aria-label={`${humanize(name)} ${formatTimeOfDay(timeOf(half))}`}
                  tabIndex={cursor[0] === day && cursor[1] === half ? 0 : -1}
                />
              ))}
            </div>
          ))}
        </div>
      </div>
      <Text fz="sm" c="dimmed" mt="xs" aria-live="polite">
        {openHours(shown) === 0
          ? "No hours selected. Drag across the grid, or use the arrow keys and the space bar."
          : describeWeek(slotsOf(shown))}
      </Text>
      <Text fz="sm" c="dimmed" className={classes.finger}>
        Drag a finger across the grid to select. Scroll by the row of hours.
      </Text>
    </div>
  );
}

/** The cell under the pointer, also while a finger that began elsewhere moves. */
function cellAt(event: PointerEvent): Cell | null {
  const found = document.elementFromPoint(event.clientX, event.clientY)?.closest<HTMLElement>("[data-cell]")?.dataset[
    "cell"
  ];
  const [day, half] = found?.split(",").map(Number) ?? [];
  return day === undefined || half === undefined ? null : [day, half];
}

function clamp(value: number, size: number): number {
  return Math.min(size - 1, Math.max(0, value));
}
