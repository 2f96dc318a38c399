/** Whether the agent runs without a vendor's model, and which steps do not, with the reason and what to do. */

import { Button, Popover, ScrollArea, Text, UnstyledButton } from "@mantine/core";
import { CircleAlert, CircleCheck, CircleDashed } from "lucide-react";
import { useState } from "react";
import type { Schema } from "../../../lib/api/types";
import { pluralize } from "../../../lib/format/format";
import classes from "../canvas/canvas.module.css";
import { useEditorContext } from "../state/editor";

type Step = Schema<"OfflineStepResponse">;

export function OfflineList() {
  const { offline, reveal } = useEditorContext();
  const [isOpen, setIsOpen] = useState(false);
  if (offline === null || offline.length === 0) return null;
  const go = (step: Step) => {
    reveal({ nodeIds: [step.node_id], edgeIds: [] }, "form");
    setIsOpen(false);
  };
  return (
    <Popover
      opened={isOpen}
      onChange={setIsOpen}
      position="bottom-end"
      width={380}
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
            <span aria-hidden="true" className={classes.icon}>
              <ModeIcon mode={worstMode(offline)} />
            </span>
          }
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          {summarize(offline)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={6}>
        <Text fz="sm" c="dimmed" px={8} py={4}>
          What the built-in model, which needs no key, does with each step.
        </Text>
        <ScrollArea.Autosize mah={340} type="auto" offsetScrollbars="present">
          {offline.map((step) => (
            <UnstyledButton key={step.node_id} className={classes.finding} onClick={() => go(step)}>
              <ModeIcon mode={step.mode} />
              <span>
                <b>{step.name}</b>
                {step.reasons.length === 0 ? "Runs offline." : step.reasons.map((reason) => reason.message).join(" ")}
              </span>
            </UnstyledButton>
          ))}
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  );
}

function ModeIcon({ mode }: { mode: Step["mode"] }) {
  if (mode === "needs_model")
    return <CircleAlert size={15} className={classes.warning} role="img" aria-label="Needs a model" />;
  if (mode === "limited") return <CircleDashed size={15} role="img" aria-label="Limited" />;
  return <CircleCheck size={15} role="img" aria-label="Runs offline" />;
}

function worstMode(steps: readonly Step[]): Step["mode"] {
  const order = ["needs_model", "limited"] as const;
  return order.find((mode) => steps.some((step) => step.mode === mode)) ?? "runs";
}

/** "2 steps need a model", "Runs offline, roughly in 3 steps" or "Runs offline". */
export function summarize(steps: readonly Pick<Step, "mode">[]): string {
  const count = (mode: Step["mode"]) => steps.filter((step) => step.mode === mode).length;
  const needing = count("needs_model");
  if (needing > 0) return needing === 1 ? "1 step needs a model" : `${needing} steps need a model`;
  const limited = count("limited");
  return limited === 0 ? "Runs offline" : `Runs offline, ${pluralize(limited, "step")} limited`;
}
