/** The editor's canvas with its palette over it; the forms stand in the dock beside it. */

import { ReactFlowProvider } from "@xyflow/react";
import { type ReactNode, useMemo } from "react";
import classes from "./builder.module.css";
import { Canvas } from "./canvas/canvas";
import { type Editor, EditorProvider } from "./state/editor";
import { MarksProvider } from "./state/marks";
import { Palette } from "./canvas/palette";
import { DockFrame } from "./panels/dock-frame";
import { ConflictBar } from "./header/save-state";
import { CoverageProvider, useCoverage } from "./coverage/use-coverage";

interface BuilderProps {
  editor: Editor;
  /** Where a call is now, and where it has been. */
  liveId: string | null;
  visited: readonly string[];
  header: ReactNode;
  dock: ReactNode;
  /** A link leads to what is in the dock. */
  isDockLinked: boolean;
  /** Shown in place of the canvas, which stays as it is. */
  over?: ReactNode;
}

export function Builder({ editor, liveId, visited, header, dock, isDockLinked, over }: BuilderProps) {
  const coverage = useCoverage(editor.agent.id);
  const marks = useMemo(
    () => ({
      validationIssues: editor.validationIssues,
      liveId,
      visited: new Set(visited),
      coverage: coverage.marks,
    }),
    [editor.validationIssues, liveId, visited, coverage.marks],
  );
  return (
    <EditorProvider value={editor}>
      <MarksProvider value={marks}>
        <ReactFlowProvider>
          <div className={classes.builder}>
            {header}
            <ConflictBar />
            {over}
            <div className={classes.columns} hidden={over !== undefined} data-readonly={!editor.canEdit || undefined}>
              <div className={classes.stage}>
                {editor.canEdit && <Palette />}
                <CoverageProvider value={coverage}>
                  <Canvas />
                </CoverageProvider>
              </div>
              <DockFrame isLinked={isDockLinked}>{dock}</DockFrame>
            </div>
          </div>
        </ReactFlowProvider>
      </MarksProvider>
    </EditorProvider>
  );
}
