/** What was read out of a call: its summary and its success criteria. */

import { Badge, Text } from "@mantine/core";
import { Panel } from "../../../components/layout/panel";
import type { RunDetail } from "../../../lib/api/types";
import classes from "../runs.module.css";

export function SummaryPanel({ run: { analysis, is_success } }: { run: Pick<RunDetail, "analysis" | "is_success"> }) {
  if (analysis === null) return null;
  if (analysis.status !== "done") {
    return (
      <Panel title="Summary">
        <Text c="dimmed" fz="sm" p="lg">
          The summary is being written.
        </Text>
      </Panel>
    );
  }
  const by = analysis.judged_by === "model" ? `By ${analysis.model ?? "the language model"}` : "By rules";
  if (analysis.summary === null && analysis.criteria.length === 0) return null;
  return (
    <Panel
      title="Summary"
      right={
        <Text fz="sm" c="dimmed" title={analysis.error ?? undefined}>
          {by}
        </Text>
      }
    >
      {analysis.summary !== null && (
        <Text fz="sm" px="md" pt="sm" pb={analysis.criteria.length > 0 ? 0 : "md"}>
          {analysis.summary}
        </Text>
      )}
      {analysis.criteria.length > 0 && (
        <dl className={classes.facts} aria-label="Success criteria">
          {is_success !== null && (
            <div>
              <dt>Success criteria</dt>
              <dd>{is_success ? "All met" : "Not all met"}</dd>
            </div>
          )}
          {analysis.criteria.map((criterion) => (
            <div key={criterion.name}>
              <dt>
                {criterion.name}{" "}
                <Badge color={criterion.passed === null ? "gray" : criterion.passed ? "brand" : "red"}>
                  {criterion.passed === null ? "Not judged" : criterion.passed ? "Met" : "Not met"}
                </Badge>
              </dt>
              <dd>
                <Text fz="sm" fw={400} c="dimmed">
                  {criterion.reason}
                </Text>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Panel>
  );
}
