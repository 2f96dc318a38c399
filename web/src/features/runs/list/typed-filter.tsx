/** A filter that is typed, by what a text contains. */

import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";

interface TypedProps {
  label: string;
  /** The label is only read aloud. */
  isQuiet?: boolean;
  placeholder?: string;
  value: string | undefined;
  onChange: (value: string) => void;
}

/** Looks when the typing pauses. */
export function TypedFilter({ label, isQuiet = false, placeholder, value, onChange }: TypedProps) {
  const [typed, setTyped] = useState(value ?? "");
  const tell = useDebouncedCallback(onChange, 350);
  return (
    <TextInput
      {...(isQuiet ? { "aria-label": label } : { label })}
      placeholder={placeholder}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        tell(event.currentTarget.value);
      }}
    />
  );
}
