/** The same agent in writing: no microphone, no voice, the same graph. */

import { Button, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { Problem } from "../../components/problem";
import { Transcript } from "../../components/transcript";
import { useEndChat, useSay, useStartChat } from "./api";
import classes from "./chat_panel.module.css";
import { withPending } from "./messages";

export function ChatPanel({ agentId, agentName }: { agentId: number; agentName: string }) {
  const start = useStartChat(agentId);
  const say = useSay(agentId);
  const end = useEndChat(agentId);
  const [text, setText] = useState("");
  // The newest answer holds the whole conversation.
  const chat = end.data ?? say.data ?? start.data;
  const pending = say.isPending ? say.variables.text : null;
  const isOver = chat?.is_over === true;
  const error = say.error ?? start.error ?? end.error;

  const restart = () => {
    say.reset();
    end.reset();
    setText("");
    start.mutate();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const words = text.trim();
    if (words === "" || chat === undefined || say.isPending) return;
    setText("");
    say.mutate({ runId: chat.id, text: words }, { onError: () => setText(words) });
  };

  if (chat === undefined) {
    return (
      <div className={classes.stage}>
        <Text c="dimmed" ta="center" maw={320}>
          Write with {agentName} instead of talking. The same steps, without a microphone.
        </Text>
        {start.isError && <Problem error={start.error} />}
        <Button variant="light" onClick={restart} loading={start.isPending}>
          Start a text chat
        </Button>
      </div>
    );
  }
  return (
    <div className={classes.chat}>
      <Transcript lines={withPending(chat.messages, pending)} agentName={agentName} isLive />
      {error && (
        <div className={classes.problem}>
          <Problem error={error} />
        </div>
      )}
      {isOver ? (
        <div className={classes.foot}>
          <Text fz="sm" c="dimmed" role="status">
            The conversation is over.
          </Text>
          <Button variant="light" onClick={restart} loading={start.isPending}>
            Start again
          </Button>
        </div>
      ) : (
        <form className={classes.foot} onSubmit={submit}>
          <TextInput
            className={classes.input}
            aria-label="Message"
            placeholder={say.isPending ? "The agent is answering…" : "Write as the caller"}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Button type="submit" loading={say.isPending} disabled={text.trim() === ""}>
            Send
          </Button>
          <Button variant="default" onClick={() => end.mutate(chat.id)} loading={end.isPending}>
            End
          </Button>
        </form>
      )}
    </div>
  );
}
