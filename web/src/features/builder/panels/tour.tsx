/** Three hints for users who open an agent for the first time, each beside what it explains. */

import { Button, CloseButton, Group, Text } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useEffect } from "react";
import { useMarks } from "../state/marks";
import classes from "./tour.module.css";

interface Hint {
  /** The `data-tour` of what it is about. */
  target: string;
  title: string;
  words: string;
}

const HINTS: Hint[] = [
  {
    target: "bench",
    title: "Try it first",
    words: "Press Start talking. The current step lights up on the canvas, and you see how long each response took.",
  },
  {
    target: "canvas",
    title: "Make it yours",
    words:
      "Each box is a step and each line is a transition. Select one to edit it. Changes are saved to a draft automatically.",
  },
  {
    target: "publish",
    title: "Publish when you are ready",
    words: "Until then, phone calls use the published version. Problems are shown where they occur.",
  },
];

export function Tour() {
  const [at, setAt] = useLocalStorage({ key: "offhook.tour", defaultValue: 0, getInitialValueInEffect: false });
  const { liveId } = useMarks();
  const isTalking = liveId !== null;
  // Who talks has done what the first one says; and none stands before the steps that light up then.
  useEffect(() => {
    if (isTalking && at === 0) setAt(1);
  }, [isTalking, at, setAt]);
  const hint = isTalking ? undefined : HINTS[at];
  const target = hint?.target;
  useEffect(() => {
    if (target === undefined) return;
    const element = document.querySelector(`[data-tour="${target}"]`);
    element?.setAttribute("data-tour-on", "");
    return () => element?.removeAttribute("data-tour-on");
  }, [target]);
  if (hint === undefined) return null;
  const end = () => setAt(HINTS.length);
  return (
    <section className={classes.hint} aria-label="Tour" onKeyDown={(event) => event.key === "Escape" && end()}>
      <Group justify="space-between" wrap="nowrap" align="flex-start" gap={8}>
        <Text fw={600}>{hint.title}</Text>
        <CloseButton size="sm" aria-label="Close the tour" onClick={end} />
      </Group>
      <Text fz="sm" c="dimmed" mt={4} aria-live="polite">
        {hint.words}
      </Text>
      <Group justify="space-between" mt="sm">
        <Text fz="xs" c="dimmed">
          {at + 1} of {HINTS.length}
        </Text>
        <Button size="xs" onClick={() => setAt(at + 1)}>
          {at + 1 < HINTS.length ? "Next" : "Got it"}
        </Button>
      </Group>
    </section>
  );
}
