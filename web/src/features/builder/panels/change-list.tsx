/** What differs between two versions, field by field. */

import { Badge, Stack, Text } from "@mantine/core";
import type { Change } from "../../../graph/diff";
import { humanize } from "../../../lib/format/format";
import { useChangeLabels } from "./change-labels";
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
                    {isThere(field.before) && <del>{says.value(change, field, field.before)}</del>}
                    {isThere(field.after) && <ins>{says.value(change, field, field.after)}</ins>}
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

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
