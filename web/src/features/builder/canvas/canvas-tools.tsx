/** The tools that float over the canvas: search, undo, arrange, zoom, coverage, and what is wrong. */

import { ActionIcon, Tooltip } from "@mantine/core";
import { Panel, useReactFlow } from "@xyflow/react";
import { Keyboard, LayoutGrid, type LucideIcon, Maximize, Minus, Plus, Redo2, Undo2 } from "lucide-react";
import { useCallback, useState } from "react";
import classes from "./canvas.module.css";
import { CoverageMenu } from "../coverage/coverage-menu";
import { useEditorContext } from "../state/editor";
import { OfflineList } from "../header/offline-list";
import { ProblemsList } from "../header/problems-list";
import { SearchBox } from "./search-box";
import { ShortcutsHelp } from "../panels/shortcuts-help";
import { useCanvasActions } from "../state/use-canvas-actions";
import { useEditorCommands } from "../state/use-editor-commands";
import { useShortcuts } from "../state/use-shortcuts";

export function CanvasTools() {
  const editor = useEditorContext();
  const actions = useCanvasActions();
  const flow = useReactFlow();
  const [isHelping, setIsHelping] = useState(false);
  const help = useCallback(() => setIsHelping(true), []);
  useShortcuts(actions, help);
  useEditorCommands(actions, help);
  return (
    <>
      <Panel position="top-left" className={classes.tools}>
        <SearchBox />
        {editor.canEdit && (
          <div className={classes.group}>
            <Tool name="Undo" icon={Undo2} isOff={!editor.canUndo} onClick={editor.undo} />
            <Tool name="Redo" icon={Redo2} isOff={!editor.canRedo} onClick={editor.redo} />
            <Tool name="Arrange all steps" icon={LayoutGrid} onClick={() => void actions.arrange()} />
          </div>
        )}
      </Panel>
      <Panel position="bottom-left" className={classes.tools}>
        <div className={classes.group}>
          <Tool name="Zoom out" icon={Minus} onClick={() => void flow.zoomOut({ duration: 150 })} />
          <Tool name="Zoom in" icon={Plus} onClick={() => void flow.zoomIn({ duration: 150 })} />
          <Tool name="Show all" icon={Maximize} onClick={actions.showAll} />
          <Tool name="Keyboard shortcuts" icon={Keyboard} onClick={help} />
        </div>
        <CoverageMenu />
      </Panel>
      <Panel position="top-right" className={`${classes.tools} ${classes.checks}`}>
        <OfflineList />
        <ProblemsList />
      </Panel>
      <ShortcutsHelp isOpen={isHelping} onClose={() => setIsHelping(false)} />
    </>
  );
}

interface ToolProps {
  name: string;
  icon: LucideIcon;
  isOff?: boolean;
  onClick: () => void;
}

function Tool({ name, icon: Icon, isOff = false, onClick }: ToolProps) {
  return (
    <Tooltip label={name} openDelay={400}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={32}
        radius={8}
        aria-label={name}
        disabled={isOff}
        onClick={onClick}
      >
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
