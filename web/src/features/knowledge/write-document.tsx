/** Adds a document that is typed or pasted instead of uploaded. */

import { Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "../../components/forms/dialog";

/** In characters: longer names do not fit in the list. */
const MAX_NAME = 120;

interface WriteDocumentProps {
  onClose: () => void;
  onWritten: (file: File) => void;
}

export function WriteDocument({ onClose, onWritten }: WriteDocumentProps) {
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const submit = () => {
    onWritten(new File([text], `${name.trim().replaceAll(/[/\\]/g, "-")}.txt`, { type: "text/plain" }));
    onClose();
  };
  return (
    <FormDialog
      title="Write a document"
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Add document"
      isBusy={false}
      isDisabled={name.trim() === "" || text.trim() === ""}
      isChanged={text.trim() !== ""}
      size="lg"
    >
      <TextInput
        label="Name"
        placeholder="Opening hours"
        required
        data-autofocus
        maxLength={MAX_NAME}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Textarea
        label="Text"
        description="Search works best with short paragraphs, each about one topic."
        required
        rows={12}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
