/** Makes an agent from an exported file, and says what is missing before it works as it did where it comes from. */

import { Alert, Button, FileButton, Group, List, Stack, Text } from "@mantine/core";
import { FileUp } from "lucide-react";
import { useState } from "react";
import { Problem } from "../../components/feedback/problem";
import { pluralize } from "../../lib/format/format";
import { useImportAgent } from "./api";
import { readAgentFile } from "./agent-file";

interface AgentImportProps {
  onOpen: (agent: { id: number }) => void;
  onClose: () => void;
}

export function AgentImport({ onOpen, onClose }: AgentImportProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const importAgent = useImportAgent();
  const imported = importAgent.data;
  const choose = async (file: File | null) => {
    if (file === null) return;
    importAgent.reset();
    const read = readAgentFile(await file.text());
    if ("problem" in read) setProblem(read.problem);
    else {
      setProblem(null);
      importAgent.mutate(read.content, {
        onSuccess: ({ workflow, missing, created_tools: created }) => {
          if (missing.length === 0 && created.length === 0) onOpen(workflow);
        },
      });
    }
  };
  if (imported !== undefined) {
    return (
      <Stack>
        <Text fz="sm">
          “{imported.workflow.name}” was imported as a draft
          {imported.created_tools.length > 0 &&
            `, with ${pluralize(imported.created_tools.length, "new tool")}: ${imported.created_tools.join(", ")}`}
          .
        </Text>
        {imported.missing.length > 0 && (
          <Alert color="yellow" variant="light" title="Missing on this server">
            <List fz="sm" spacing={4}>
              {imported.missing.map((part) => (
                <List.Item key={`${part.kind} ${part.name}`}>
                  <b>{part.name}</b>: {part.message}
                </List.Item>
              ))}
            </List>
          </Alert>
        )}
        <Group justify="flex-end">
          <Button data-autofocus onClick={() => onOpen(imported.workflow)}>
            Open the agent
          </Button>
        </Group>
      </Stack>
    );
  }
  return (
    <Stack>
      <Text fz="sm" c="dimmed">
        Choose a file that was exported from an agent here or on another server. Credentials, documents, and recordings
        are matched by name.
      </Text>
      {problem !== null && (
        <Alert color="red" variant="light" role="alert" py="xs">
          {problem}
        </Alert>
      )}
      {importAgent.isError && <Problem title="The agent was not imported" error={importAgent.error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <FileButton
          accept="application/json,.json"
          inputProps={{ "aria-label": "Agent file" }}
          onChange={(file) => void choose(file)}
        >
          {(props) => (
            <Button {...props} leftSection={<FileUp size={15} aria-hidden="true" />} loading={importAgent.isPending}>
              Choose a file
            </Button>
          )}
        </FileButton>
      </Group>
    </Stack>
  );
}
