/** The documents of a step. New ones are uploaded or read from the web here, and selected right away. */

import { Button, FileButton, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FileUp, Globe } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { AddWebPage } from "../../../components/forms/add-web-page";
import { DOCUMENT_KINDS, uploadDocument } from "../../../lib/api/document-upload";
import { messageOf } from "../../../lib/api/errors";
import { useDocuments } from "./choices-api";
import { type InnerProps, words } from "./fields";
import { ManyChoice } from "./reference-fields";

export function DocumentField(props: InnerProps) {
  const queries = useQueryClient();
  // Others can be chosen while a file is on its way.
  const latest = useRef(props.value);
  useEffect(() => {
    latest.current = props.value;
  }, [props.value]);
  const choose = (ids: string[]) => {
    const chosen = words(latest.current);
    const added = ids.filter((id) => !chosen.includes(id));
    if (added.length > 0) props.onChange([...chosen, ...added]);
  };
  const [isAddingPage, setIsAddingPage] = useState(false);
  const upload = useMutation({
    mutationFn: async (files: File[]) => {
      const uploaded: string[] = [];
      try {
        for (const file of files) uploaded.push((await uploadDocument(file, () => undefined)).id);
      } finally {
        await queries.invalidateQueries({ queryKey: ["documents"] });
        choose(uploaded);
      }
    },
  });
  const failure = upload.isError ? messageOf(upload.error) : undefined;
  return (
    <Stack gap={6}>
      <ManyChoice {...props} choices={useDocuments()} nothing="No documents yet" />
      {!props.isOff && (
        <Group gap={8}>
          <FileButton
            multiple
            accept={DOCUMENT_KINDS}
            inputProps={{ "aria-label": "Upload documents" }}
            onChange={(files) => files.length > 0 && upload.mutate(files)}
          >
            {(button) => (
              <Button
                {...button}
                size="xs"
                variant="default"
                leftSection={<FileUp size={14} aria-hidden="true" />}
                loading={upload.isPending}
              >
                Upload a document
              </Button>
            )}
          </FileButton>
          <Button
            size="xs"
            variant="default"
            leftSection={<Globe size={14} aria-hidden="true" />}
            onClick={() => setIsAddingPage(true)}
          >
            From a web address
          </Button>
          {isAddingPage && (
            <AddWebPage onClose={() => setIsAddingPage(false)} onAdded={(document) => choose([document.id])} />
          )}
          {failure !== undefined && (
            <Text fz="xs" c="red" role="alert">
              {failure}
            </Text>
          )}
        </Group>
      )}
    </Stack>
  );
}
