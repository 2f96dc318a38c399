/** Asks before a page with input that is stored nowhere is left: by a link, by Back, or with the tab. */

import { useBlocker } from "@tanstack/react-router";
import { Confirm } from "./dialog";

interface LeaveQuestionProps {
  title: string;
  /** Whether there is something to lose, asked when the page is left. */
  isUnsaved: () => boolean;
}

export function LeaveQuestion({ title, isUnsaved }: LeaveQuestionProps) {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isUnsaved(),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  return (
    <Confirm
      title={title}
      isOpen={leaving.status === "blocked"}
      onClose={() => leaving.reset?.()}
      onConfirm={() => leaving.proceed?.()}
      confirm="Leave"
    >
      What you entered is not saved.
    </Confirm>
  );
}
