/** A document that is written here, or pasted, instead of uploaded. */

import { Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "../../components/forms/dialog";

/** As many letters as a name on the list has room for. */
const MOST_NAME = 120;

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
        maxLength={MOST_NAME}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Textarea
        label="Text"
        description="Short paragraphs, one subject each, are found best."
        required
        rows={12}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
