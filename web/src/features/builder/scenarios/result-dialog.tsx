/** A conversation that was played, opened at the turn that failed, with everything that did not hold and its sound. */

import { Alert, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Dialog } from "../../../components/forms/dialog";
import { Loaded } from "../../../components/layout/page";
import { PlayerBar } from "../../../components/runs/player/player";
import { usePlayer } from "../../../components/runs/player/use-player";
import { messageOf } from "../../../lib/api/errors";
import { formatClock } from "../../../lib/format/format";
import { useEditorContext } from "../state/editor";
import { type LatestResult, type PlayedResult, usePlayedResults, usePlayedSound } from "./api";
import { ModelVerdicts } from "./model-fields";
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
            <Conversation played={played} playId={result.play_id} />
          );
        }}
      </Loaded>
    </Dialog>
  );
}

/** An address for as long as it is shown. */
function useAddress(content: Blob | undefined): string | null {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    if (content === undefined) return;
    const made = URL.createObjectURL(content);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  return address;
}

/** Before a turn: what it answers is heard. */
const LEAD_S = 1;

function Conversation({ played, playId }: { played: PlayedResult; playId: number }) {
  const { agent, document } = useEditorContext();
  const failedTurn = played.faults.find((fault) => fault.turn !== null)?.turn ?? null;
  const starts = played.has_recording ? (played.sound?.began_at_s ?? []) : [];
  const failedAt = starts[played.transcript.findIndex((turn) => turn.turn !== null && turn.turn === failedTurn)];
  const sound = usePlayedSound(agent.id, playId, played);
  const address = useAddress(sound.data);
  const player = usePlayer(address, Math.max(0, (failedAt ?? 0) - LEAD_S));
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
                {fault.is_by_model ? "Judged by a model: " : ""}
                {fault.turn === null ? "" : `Turn ${fault.turn + 1}: `}
                {faultSentence(fault, document.definition)}
              </li>
            ))}
          </ul>
        </Alert>
      )}
      <ModelVerdicts verdicts={played.verdicts ?? []} />
      {address !== null && (
        <section className={classes.recording} aria-label="Recording">
          <PlayerBar
            player={player}
            address={address}
            strip={played.strip ?? undefined}
            hasFailed={played.strip == null}
            download={null}
          />
        </section>
      )}
      {sound.isError && (
        <Text fz="sm" c="dimmed">
          The recording could not be loaded. {messageOf(sound.error)}
        </Text>
      )}
      <div role="region" aria-label="Conversation" tabIndex={0} className={classes.conversation}>
        <ol>
          {played.transcript.map((turn, index) => {
            const isFailed = turn.turn !== null && turn.turn === failedTurn;
            const startS = starts[index];
            return (
              <li
                key={index}
                ref={isFailed ? failed : undefined}
                data-failed={isFailed || undefined}
                aria-current={isFailed || undefined}
              >
                {startS !== undefined && (
                  <button
                    type="button"
                    className={classes.time}
                    aria-label={`Go to ${formatClock(startS * 1000)} in the recording`}
                    onClick={() => player.seek(startS)}
                  >
                    {formatClock(startS * 1000)}
                  </button>
                )}
                {turn.caller !== null && (
                  <p>
                    <b>Caller</b> {turn.caller}
                  </p>
                )}
                {turn.agent !== "" && (
                  <p>
                    <b>Agent</b> {turn.agent}
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
