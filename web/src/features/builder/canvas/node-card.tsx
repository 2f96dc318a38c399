/** One step on the canvas: what it is, what it says, whether something is wrong with it, whether a call is there. */

import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";
import { AlertTriangle, CircleAlert, FileText, ListChecks, Wrench } from "lucide-react";
import { memo } from "react";
import { type GraphNode, nodeName, summaryOf } from "../../../graph/definition";
import { type NodeSpec, mayEnter, mayLeave } from "../../../graph/specs";
import { KindIcon } from "./kinds";
import type { CoverageMarks } from "../coverage/coverage";
import { coverageMark, TakenCount, ToolCounts } from "../coverage/taken-count";
import { useMarks } from "../state/marks";
import classes from "./canvas.module.css";

export type CanvasNode = Node<{ node: GraphNode; spec: NodeSpec | undefined; canEdit: boolean }, "node">;

export const NodeCard = memo(function NodeCard({ id, data, selected }: NodeProps<CanvasNode>) {
  const { node, spec, canEdit } = data;
  const marks = useMarks();
  const found = marks.validationIssues.byNode.get(id) ?? [];
  const errors = found.filter((issue) => issue.isError);
  const taken = marks.coverage?.nodes.get(id);
  const summary = summaryOf(node);
  const worst = errors.length > 0 ? "error" : found.length > 0 ? "warning" : undefined;
  return (
    <div
      className={classes.node}
      data-kind={node.type}
      data-selected={selected || undefined}
      data-live={marks.liveId === id || undefined}
      data-visited={marks.visited.has(id) || undefined}
      data-problem={worst}
      data-coverage={coverageMark(taken)}
      title={found.map((issue) => issue.message).join("\n")}
    >
      {mayEnter(spec) && <Handle type="target" position={Position.Top} isConnectable={canEdit} />}
      <div className={classes.nodeHead}>
        <KindIcon kind={node.type} icon={spec?.icon} />
        <span className={classes.nodeName}>{nodeName(node)}</span>
        {marks.coverage !== null && <TakenCount count={taken} noun={marks.coverage.noun} />}
        {worst === "error" && <CircleAlert size={16} className={classes.error} aria-label="has errors" />}
        {worst === "warning" && <AlertTriangle size={15} className={classes.warning} aria-label="has warnings" />}
      </div>
      {summary !== "" && <p className={classes.summary}>{summary}</p>}
      <Extras node={node} coverage={marks.coverage} />
      {mayLeave(spec) && <Handle type="source" position={Position.Bottom} isConnectable={canEdit} />}
    </div>
  );
});

function Extras({ node: { data }, coverage }: { node: GraphNode; coverage: CoverageMarks | null }) {
  const count = (value: unknown) => (Array.isArray(value) ? value.length : 0);
  const tools = count(data["tool_uuids"]);
  const documents = count(data["document_refs"]) + count(data["document_uuids"]);
  const variables = data["extraction_enabled"] === true ? count(data["extraction_variables"]) : 0;
  if (tools + documents + variables === 0) return null;
  return (
    <div className={classes.extras}>
      {tools > 0 && (
        <span title="Tools">
          <Wrench size={12} /> {tools}
        </span>
      )}
      {coverage !== null && <ToolCounts coverage={coverage} data={data} />}
      {documents > 0 && (
        <span title="Documents">
          <FileText size={12} /> {documents}
        </span>
      )}
      {variables > 0 && (
        <span title="Extracted variables">
          <ListChecks size={12} /> {variables}
        </span>
      )}
    </div>
  );
}
