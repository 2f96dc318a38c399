/** A conversation that was played, opened at the turn that failed, with everything that did not hold. */

import { Alert, Stack, Text } from "@mantine/core";
import { useEffect, useRef } from "react";
import { Dialog } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { useEditorContext } from "../state/editor";
import { type LatestResult, type PlayedResult, usePlayedResults } from "./api";
import { faultSentence } from "./scenario";
import classes from "./scenarios.module.css";

export function ResultDialog({ result, onClose }: { result: LatestResult; onClose: () => void }) {
  const { agent } = useEditorContext();
  const results = usePlayedResults(agent.id, result.play_id);
  return (
    <Dialog title={result.title} isOpen onClose={onClose} size="lg">
      <Loaded query={results} what="The conversation">
        {(all) => {
          const played = all.find((one) => one.name === result.name && one.seed === result.seed);
          return played === undefined ? (
            <Text fz="sm">This conversation is no longer stored. Run the scenario again.</Text>
          ) : (
            <Conversation played={played} />
          );
        }}
      </Loaded>
    </Dialog>
  );
}

function Conversation({ played }: { played: PlayedResult }) {
  const { agent, document } = useEditorContext();
  const failedTurn = played.faults.find((fault) => fault.turn !== null)?.turn ?? null;
  const failed = useRef<HTMLLIElement>(null);
  useEffect(() => {
    // Braces: some browsers return a promise, which React would call as the effect's end.
    failed.current?.scrollIntoView({ block: "center" });
  }, []);
  return (
    <Stack gap="sm">
      {played.faults.length === 0 ? (
        <Text fz="sm">All expectations were met.</Text>
      ) : (
        <Alert color="red" variant="light" title="Failed expectations">
          <ul className={classes.faults}>
            {played.faults.map((fault, index) => (
              <li key={index}>
                {fault.turn === null ? "" : `Turn ${fault.turn + 1}: `}
                {faultSentence(fault, document.definition)}
              </li>
            ))}
          </ul>
        </Alert>
      )}
      <div role="region" aria-label="Conversation" tabIndex={0} className={classes.conversation}>
        <ol>
          {played.transcript.map((turn, index) => {
            const isFailed = turn.turn !== null && turn.turn === failedTurn;
            return (
              <li
                key={index}
                ref={isFailed ? failed : undefined}
                data-failed={isFailed || undefined}
                aria-current={isFailed || undefined}
              >
                {turn.caller !== null && (
                  <p>
                    <b>Caller</b> {turn.caller}
                  </p>
                )}
                {turn.agent !== "" && (
                  <p>
                    <b>{agent.name}</b> {turn.agent}
                  </p>
                )}
              </li>
            );
          })}
        </ol>
      </div>
    </Stack>
  );
}
