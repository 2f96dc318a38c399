/** Copying, archiving and deleting an agent. */

import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Archive, ArchiveRestore, Copy, Download, Trash2 } from "lucide-react";
import { useState } from "react";
import { Problem } from "../../../components/feedback/problem";
import { api, unwrap } from "../../../lib/api/client";
import { downloadFile } from "../../../lib/api/download";
import { useRefresh } from "../api";
import { useEditorContext } from "../state/editor";

export function AgentActions() {
  const { agent, canEdit, flush } = useEditorContext();
  const refresh = useRefresh(agent.id);
  const navigate = useNavigate();
  const [isAsking, setIsAsking] = useState(false);
  const path = { params: { path: { workflow_id: agent.id } } };
  const copy = useMutation({
    mutationFn: async () => {
      await flush();
      return unwrap(api.POST("/api/v1/workflow/{workflow_id}/duplicate", path));
    },
    onSuccess: async (made) => {
      await refresh();
      await navigate({ to: "/agents/$agentId", params: { agentId: made.id } });
    },
  });
  const status = useMutation({
    mutationFn: () =>
      unwrap(
        api.PUT("/api/v1/workflow/{workflow_id}/status", {
          ...path,
          body: { status: agent.status === "archived" ? "active" : "archived" },
        }),
      ),
    onSuccess: refresh,
  });
  const erase = useMutation({
    mutationFn: () => unwrap(api.DELETE("/api/v1/workflow/{workflow_id}", path)),
    onSuccess: async () => {
      await navigate({ to: "/" });
      await refresh();
    },
  });
  // As a file without secrets, to keep, to compare, or to import elsewhere.
  const save = useMutation({
    mutationFn: async () => {
      await flush();
      await downloadFile(`/api/v1/workflow/${agent.id}/export`, `${agent.name}.agent.json`);
    },
  });
  const error = copy.error ?? status.error ?? save.error;
  if (!canEdit)
    return (
      <Text fz="sm" c="dimmed">
        Agent {agent.id}. You have read-only access.
      </Text>
    );
  return (
    <Stack gap="sm">
      {error && <Problem error={error} />}
      <Group gap={8}>
        <Button
          size="xs"
          variant="default"
          leftSection={<Download size={14} />}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          Export
        </Button>
        <Button
          size="xs"
          variant="default"
          leftSection={<Copy size={14} />}
          loading={copy.isPending}
          onClick={() => copy.mutate()}
        >
          Duplicate
        </Button>
        <Button
          size="xs"
          variant="default"
          leftSection={agent.status === "archived" ? <ArchiveRestore size={14} /> : <Archive size={14} />}
          loading={status.isPending}
          onClick={() => status.mutate()}
        >
          {agent.status === "archived" ? "Unarchive" : "Archive"}
        </Button>
        <Button
          size="xs"
          variant="light"
          color="red"
          leftSection={<Trash2 size={14} />}
          onClick={() => setIsAsking(true)}
        >
          Delete
        </Button>
      </Group>
      <Text fz="xs" c="dimmed">
        An archived agent does not respond to calls or triggers until you unarchive it.
      </Text>
      <Modal opened={isAsking} onClose={() => setIsAsking(false)} title={`Delete ${agent.name}?`} centered radius="lg">
        <Stack>
          <Text fz="sm">This permanently deletes the agent with its versions, runs, and recordings.</Text>
          {erase.isError && <Problem error={erase.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setIsAsking(false)}>
              Cancel
            </Button>
            <Button color="red" loading={erase.isPending} onClick={() => erase.mutate()}>
              Delete permanently
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Stack>
  );
}
