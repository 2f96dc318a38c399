/** The question before shorter periods, which delete what earlier calls left. */

import { Confirm } from "./dialog";
import classes from "./shorter-retention.module.css";

interface ShorterRetentionProps {
  /** What would be deleted, a phrase each; null: nothing is asked. */
  deletions: readonly string[] | null;
  onClose: () => void;
  onConfirm: () => void;
  isBusy: boolean;
}

export function ShorterRetention({ deletions, onClose, onConfirm, isBusy }: ShorterRetentionProps) {
  return (
    <Confirm
      title="Delete earlier data?"
      isOpen={deletions !== null}
      onClose={onClose}
      onConfirm={onConfirm}
      confirm="Save and delete"
      isBusy={isBusy}
    >
      These periods are shorter than the ones in effect. Within an hour, this is deleted and cannot be restored:
      <ul className={classes.list}>
        {(deletions ?? []).map((deletion) => (
          <li key={deletion}>{deletion}</li>
        ))}
      </ul>
    </Confirm>
  );
}
