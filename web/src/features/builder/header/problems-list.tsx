/** What keeps the agent from being published, and what should be looked at; each leads to its place. */

import { Button, Popover, ScrollArea, UnstyledButton } from "@mantine/core";
import { AlertTriangle, CheckCircle2, CircleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { type Finding, placeOf } from "../../../graph/problems";
import classes from "../canvas/canvas.module.css";
import { useEditorContext } from "../state/editor";
import { useShowProblems } from "../state/show-problems";

export function ProblemsList() {
  const { findings, isChecked, document, reveal } = useEditorContext();
  const [isOpen, setIsOpen] = useState(false);
  const asked = useShowProblems();
  useEffect(() => {
    if (asked > 0) setIsOpen(true);
  }, [asked]);
  if (!isChecked) return null;
  if (findings.all.length === 0) {
    return (
      <span className={classes.fine} role="status">
        <CheckCircle2 size={15} /> Ready
      </span>
    );
  }
  const go = (finding: Finding) => {
    if (finding.id === null) return;
    reveal(
      finding.kind === "edge" ? { stepIds: [], wayIds: [finding.id] } : { stepIds: [finding.id], wayIds: [] },
      "form",
    );
    setIsOpen(false);
  };
  const parts = [counted(findings.errors, "error"), counted(findings.warnings, "warning")];
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-end" width={360} shadow="md" radius="md">
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          className={classes.problems}
          leftSection={
            findings.errors > 0 ? (
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
        <ScrollArea.Autosize mah={340}>
          {findings.all.map((finding, index) => (
            <UnstyledButton
              key={`${finding.code}-${index}`}
              className={classes.finding}
              disabled={finding.id === null}
              onClick={() => go(finding)}
            >
              {finding.isError ? (
                <CircleAlert size={15} className={classes.error} />
              ) : (
                <AlertTriangle size={15} className={classes.warning} />
              )}
              <span>
                {placeOf(finding, document.definition) !== "" && <b>{placeOf(finding, document.definition)}</b>}
                {finding.message}
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
