/** What an agent's calls come to: results, success criteria, and a summary of each call. */

import { Switch, Text } from "@mantine/core";
import { useEditorContext } from "../state/editor";
import { settingError } from "../settings/setting-errors";
import { withValue } from "../settings/setting-values";
import { type CallAnalysis, readAnalysis, storedAnalysis } from "./analysis";
import { DefinitionList } from "./definition-list";

const SETTING = "call_analysis";

export function ResultSettings() {
  const { document, canEdit, change, saving } = useEditorContext();
  const analysis = readAnalysis(document.configurations[SETTING]);
  const save = (next: CallAnalysis) =>
    change((doc) => ({ ...doc, configurations: withValue(doc.configurations, SETTING, storedAnalysis(next)) }));
  const problem = settingError(saving, SETTING);
  return (
    <>
      <Switch
        label="Write a summary of each call"
        description="Written by the language model or, without one, from the extracted variables."
        disabled={!canEdit}
        checked={analysis.write_summary}
        onChange={(event) => save({ ...analysis, write_summary: event.currentTarget.checked })}
      />
      <DefinitionList
        kind="results"
        title="Results"
        about="How a call turned out. Each call gets the first result that matches. Campaigns and lists count them."
        add="Add result"
        definitions={analysis.results}
        onChange={(results) => save({ ...analysis, results })}
      />
      <DefinitionList
        kind="criteria"
        title="Success criteria"
        about="A call that meets all of them is a success. Without criteria, its result decides."
        add="Add criterion"
        definitions={analysis.criteria}
        onChange={(criteria) => save({ ...analysis, criteria })}
      />
      {problem !== undefined && (
        <Text fz="sm" c="red" role="alert">
          {problem}
        </Text>
      )}
    </>
  );
}
