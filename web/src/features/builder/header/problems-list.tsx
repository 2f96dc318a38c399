/** What keeps the agent from being published, and what should be looked at; each leads to its place. */

import { Button, Popover, ScrollArea, UnstyledButton } from "@mantine/core";
import { AlertTriangle, CheckCircle2, CircleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { type ValidationIssue, locationOf } from "../../../graph/validation-issues";
import classes from "../canvas/canvas.module.css";
import { useEditorContext } from "../state/editor";
import { useShowProblems } from "../state/show-problems";

export function ProblemsList() {
  const { validationIssues, isChecked, document, reveal } = useEditorContext();
  const [isOpen, setIsOpen] = useState(false);
  const asked = useShowProblems();
  const isEmpty = validationIssues.all.length === 0;
  // What comes up later is another list, which nobody has opened.
  useEffect(() => {
    if (isEmpty) setIsOpen(false);
  }, [isEmpty]);
  useEffect(() => {
    if (asked > 0) setIsOpen(true);
  }, [asked]);
  if (!isChecked) return null;
  if (isEmpty) {
    return (
      <span className={classes.fine} role="status">
        <CheckCircle2 size={15} /> Ready
      </span>
    );
  }
  const go = (issue: ValidationIssue) => {
    if (issue.id === null) return;
    reveal(issue.kind === "edge" ? { nodeIds: [], edgeIds: [issue.id] } : { nodeIds: [issue.id], edgeIds: [] }, "form");
    setIsOpen(false);
  };
  const parts = [counted(validationIssues.errors, "error"), counted(validationIssues.warnings, "warning")];
  return (
    <Popover
      opened={isOpen}
      onChange={setIsOpen}
      position="bottom-end"
      width={360}
      trapFocus
      returnFocus
      shadow="md"
      radius="md"
    >
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          className={classes.problems}
          leftSection={
            validationIssues.errors > 0 ? (
              <CircleAlert size={15} className={classes.error} />
            ) : (
              <AlertTriangle size={15} className={classes.warning} />
            )
          }
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          {parts.filter((part) => part !== "").join(" · ")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={6}>
        <ScrollArea.Autosize mah={340} type="auto" offsetScrollbars="present">
          {validationIssues.all.map((issue, index) => (
            <UnstyledButton
              key={`${issue.code}-${index}`}
              className={classes.finding}
              disabled={issue.id === null}
              onClick={() => go(issue)}
            >
              {issue.isError ? (
                <CircleAlert size={15} className={classes.error} />
              ) : (
                <AlertTriangle size={15} className={classes.warning} />
              )}
              <span>
                {locationOf(issue, document.definition) !== "" && <b>{locationOf(issue, document.definition)}</b>}
                {issue.message}
              </span>
            </UnstyledButton>
          ))}
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  );
}

function counted(count: number, word: string): string {
  return count === 0 ? "" : `${count} ${word}${count === 1 ? "" : "s"}`;
}
