/** Requests of the text chat: the same engine as a call, without audio. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { components } from "../../lib/api/api";
import { api, unwrap } from "../../lib/api/client";

export type TextChat = components["schemas"]["TextChat"];

const place = (agentId: number, runId: number) => ({ params: { path: { workflow_id: agentId, run_id: runId } } });

/** Every request answers with the whole chat; the newest answer is the chat. */
export function useChatRequests(agentId: number, onChat: (chat: TextChat) => void) {
  const queries = useQueryClient();
  const listed = () => queries.invalidateQueries({ queryKey: ["runs"] });
  const start = useMutation({
    mutationFn: (stepId: string | null) =>
      unwrap(
        api.POST("/api/v1/workflow/{workflow_id}/text-chat/sessions", {
          params: { path: { workflow_id: agentId } },
          body: stepId === null ? {} : { start_node_id: stepId },
        }),
      ),
    onSuccess: (chat) => {
      onChat(chat);
      void listed();
    },
  });
  const say = useMutation({
    mutationFn: ({ runId, text }: { runId: number; text: string }) =>
      unwrap(
        api.POST("/api/v1/workflow/{workflow_id}/text-chat/sessions/{run_id}/messages", {
          ...place(agentId, runId),
          body: { text },
        }),
      ),
    onSuccess: onChat,
  });
  const rewind = useMutation({
    mutationFn: ({ runId, turnId }: { runId: number; turnId: string | null }) =>
      unwrap(
        api.POST("/api/v1/workflow/{workflow_id}/text-chat/sessions/{run_id}/rewind", {
          ...place(agentId, runId),
          body: { cursor_turn_id: turnId },
        }),
      ),
    onSuccess: onChat,
  });
  const end = useMutation({
    mutationFn: (runId: number) =>
      unwrap(api.POST("/api/v1/workflow/{workflow_id}/text-chat/sessions/{run_id}/end", place(agentId, runId))),
    onSuccess: (chat) => {
      onChat(chat);
      void listed();
    },
  });
  return { start, say, rewind, end };
}
