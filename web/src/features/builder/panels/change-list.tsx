/** What differs between two versions, field by field. */

import { Badge, Stack, Text } from "@mantine/core";
import type { Change } from "../../../graph/diff";
import { humanize } from "../../../lib/format/format";
import { useChangeLabels } from "./change-labels";
import { findChangedWords } from "./changed-words";
import classes from "./versions.module.css";

const COLORS = { added: "brand", removed: "red", changed: "blue" } as const;
const NAMES = { node: "Step", edge: "Transition", setting: "Setting" } as const;

export function ChangeList({ changes }: { changes: Change[] }) {
  const says = useChangeLabels();
  if (changes.length === 0) return <Text c="dimmed">Only step positions changed.</Text>;
  return (
    <Stack gap="md">
      {changes.map((change) => (
        <section key={`${change.kind} ${change.id}`} className={classes.change}>
          <div className={classes.changeHead}>
            <Badge size="sm" color={COLORS[change.change]} variant="light" tt="none">
              {humanize(change.change)}
            </Badge>
            <span className={classes.kind}>{NAMES[change.kind]}</span>
            <b>{says.title(change)}</b>
          </div>
          {change.fields.length > 0 && (change.change === "changed" || change.kind === "setting") && (
            <dl className={classes.fields}>
              {change.fields.map((field) => (
                <div key={field.field}>
                  {(field.field !== "value" || change.kind !== "setting") && <dt>{says.field(change, field)}</dt>}
                  <dd>
                    <Values
                      before={isThere(field.before) ? says.value(change, field, field.before) : null}
                      after={isThere(field.after) ? says.value(change, field, field.after) : null}
                    />
                  </dd>
                </div>
              ))}
            </dl>
          )}
        </section>
      ))}
    </Stack>
  );
}

/** Of long texts the words that differ are marked. */
function Values({ before, after }: { before: string | null; after: string | null }) {
  const words = before === null || after === null ? null : findChangedWords(before, after);
  if (words === null)
    return (
      <>
        {before !== null && <del>{before}</del>}
        {after !== null && <ins>{after}</ins>}
      </>
    );
  return (
    <>
      <del>
        {words.head}
        <mark>{words.before}</mark>
        {words.tail}
      </del>
      <ins>
        {words.head}
        <mark>{words.after}</mark>
        {words.tail}
      </ins>
    </>
  );
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
