/** The frame of the side panel: made wider, closed, and opened again when a step is chosen. */

import { ActionIcon, Tooltip } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { ChevronLeft, ChevronRight } from "lucide-react";
import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useRef,
} from "react";
import { useEditorContext } from "../state/editor";
import classes from "./dock-frame.module.css";

const WIDTH = { min: 320, start: 400, max: 720, step: 20 };

interface DockFrameProps {
  /** A link leads to what is in it. */
  isLinked: boolean;
  children: ReactNode;
}

export function DockFrame({ isLinked, children }: DockFrameProps) {
  const [isClosed, setIsClosed] = useLocalStorage({
    key: "offhook.dock.closed",
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const [width, setWidth] = useLocalStorage({
    key: "offhook.dock.width",
    defaultValue: WIDTH.start,
    getInitialValueInEffect: false,
  });
  const open = useCallback(() => setIsClosed(false), [setIsClosed]);
  useOpenWhenChosen(open, isLinked);
  const label = isClosed ? "Show side panel" : "Hide side panel";
  return (
    <div className={classes.frame}>
      <aside
        className={classes.dock}
        data-closed={isClosed || undefined}
        aria-label="Side panel"
        style={{ "--dock-width": `${String(width)}px` } as CSSProperties}
      >
        <ResizeHandle width={width} onResize={setWidth} />
        {children}
      </aside>
      <Tooltip label={label} position="left">
        <ActionIcon
          className={classes.toggle}
          variant="default"
          aria-label={label}
          onClick={() => setIsClosed(!isClosed)}
        >
          {isClosed ? <ChevronLeft size={16} /> : <ChevronRight size={16} />}
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

/** A step's form is there when the step is chosen, and not before the first one is. */
function useOpenWhenChosen(open: () => void, isLinked: boolean): void {
  const { selection, form } = useEditorContext();
  const chosen = [...selection.nodeIds, ...selection.edgeIds].join(" ");
  useEffect(() => {
    if (chosen !== "" || form !== null || isLinked) open();
  }, [chosen, form, isLinked, open]);
}

interface ResizeHandleProps {
  width: number;
  onResize: (width: number) => void;
}

function ResizeHandle({ width, onResize }: ResizeHandleProps) {
  const start = useRef<{ x: number; width: number } | null>(null);
  const resize = (wanted: number) => onResize(Math.round(Math.min(WIDTH.max, Math.max(WIDTH.min, wanted))));
  const grab = (event: PointerEvent<HTMLDivElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    start.current = { x: event.clientX, width };
  };
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (start.current !== null) resize(start.current.width + start.current.x - event.clientX);
  };
  const press = (event: KeyboardEvent) => {
    const wanted = {
      ArrowLeft: width + WIDTH.step,
      ArrowRight: width - WIDTH.step,
      Home: WIDTH.min,
      End: WIDTH.max,
    }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    resize(wanted);
  };
  return (
    <div
      className={classes.handle}
      role="slider"
      aria-label="Width of the side panel"
      aria-orientation="horizontal"
      aria-valuemin={WIDTH.min}
      aria-valuemax={WIDTH.max}
      aria-valuenow={width}
      tabIndex={0}
      onPointerDown={grab}
      onPointerMove={drag}
      onPointerUp={() => (start.current = null)}
      onDoubleClick={() => onResize(WIDTH.start)}
      onKeyDown={press}
    />
  );
}
