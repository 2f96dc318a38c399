/** Fills a tool's form from a cURL command or an operation of an OpenAPI document. */

import { Alert, Button, FileButton, Group, List, Select, Stack, Text, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { FileUp } from "lucide-react";
import { useState } from "react";
import type { ImportedRequest } from "./imported";
import { MAX_LETTERS } from "./read-import";
import { startReading } from "./start-reading";

const EXAMPLE = "curl https://example.com/orders/{order_id}";
/** Only this many operations are listed at once; the search finds the others. */
const MAX_SHOWN = 100;

export function ToolImport({ onFill }: { onFill: (part: ImportedRequest["part"]) => void }) {
  const [pasted, setPasted] = useState("");
  const [chosen, setChosen] = useState<ImportedRequest | null>(null);
  const choose = (request: ImportedRequest | undefined) => {
    setChosen(request ?? null);
    if (request !== undefined) onFill(request.part);
  };
  const reading = useMutation({
    mutationFn: async (source: string | File) => {
      if (typeof source === "string") return startReading(source);
      if (source.size > MAX_LETTERS) return { problem: "The file is too large. The limit is 20 MB." };
      return startReading(await source.text());
    },
    onSuccess: (imported) =>
      choose("requests" in imported && imported.requests.length === 1 ? imported.requests[0] : undefined),
  });
  const requests = reading.data !== undefined && "requests" in reading.data ? reading.data.requests : [];
  const problem = reading.isError
    ? "The file cannot be read."
    : reading.data !== undefined && "problem" in reading.data
      ? reading.data.problem
      : undefined;
  return (
    <Stack component="section" gap="sm" aria-label="Import">
      <Textarea
        label="Paste a cURL command or an OpenAPI document"
        description="JSON or YAML. It is read in your browser and not sent anywhere."
        placeholder={EXAMPLE}
        rows={4}
        spellCheck={false}
        value={pasted}
        error={problem}
        onChange={(event) => {
          setPasted(event.currentTarget.value);
          reading.reset();
        }}
      />
      <Group gap={8}>
        <Button
          size="xs"
          variant="light"
          disabled={pasted.trim() === ""}
          loading={reading.isPending}
          onClick={() => reading.mutate(pasted)}
        >
          Fill in the form
        </Button>
        <FileButton
          accept=".json,.yaml,.yml,.txt"
          inputProps={{ "aria-label": "OpenAPI file" }}
          onChange={(file) => file !== null && reading.mutate(file)}
        >
          {(button) => (
            <Button {...button} size="xs" variant="default" leftSection={<FileUp size={14} aria-hidden="true" />}>
              Choose a file
            </Button>
          )}
        </FileButton>
      </Group>
      {requests.length > 1 && (
        <Select
          label="Operation"
          description={`The document has ${requests.length} operations. Each one becomes a separate tool.`}
          placeholder="Choose an operation"
          searchable
          limit={MAX_SHOWN}
          nothingFoundMessage="No matching operation"
          data={requests.map(({ title, summary }, index) => ({
            value: String(index),
            label: summary === "" ? title : `${title} · ${summary}`,
          }))}
          value={chosen === null ? null : String(requests.indexOf(chosen))}
          onChange={(index) => choose(requests[Number(index ?? Number.NaN)])}
        />
      )}
      {chosen !== null && <Filled request={chosen} />}
    </Stack>
  );
}

function Filled({ request: { title, notices } }: { request: ImportedRequest }) {
  return (
    <Alert role="status" color={notices.length > 0 ? "yellow" : "brand"} variant="light" py="xs">
      <Text fz="sm">The form below is filled in from {title}.</Text>
      {notices.length > 0 && (
        <List size="sm" mt={4}>
          {notices.map((notice) => (
            <List.Item key={notice}>{notice}</List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}
