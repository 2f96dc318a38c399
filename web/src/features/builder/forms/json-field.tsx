/** Free JSON: what does not parse stays in the field and is not stored. */

import { JsonInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { InnerProps } from "./fields";

const MONOSPACE = { input: { fontFamily: "var(--mantine-font-family-monospace)" } };

export function JsonField({ value, onChange, common }: InnerProps) {
  const [draft, setDraft] = useState(() => pretty(value));
  const [isBroken, setIsBroken] = useState(false);
  const sent = useRef(value);
  // Undo, or another step: the field shows what is stored now.
  useEffect(() => {
    if (sent.current === value) return;
    sent.current = value;
    setDraft(pretty(value));
    setIsBroken(false);
  }, [value]);
  const change = (words: string) => {
    setDraft(words);
    const parsed = parsedJson(words);
    setIsBroken(parsed === null);
    if (parsed === null) return;
    sent.current = parsed.value;
    onChange(parsed.value);
  };
  return (
    <JsonInput
      {...common}
      error={isBroken ? "Invalid JSON. Not saved yet." : common.error}
      value={draft}
      autosize
      minRows={3}
      maxRows={14}
      styles={MONOSPACE}
      onChange={change}
    />
  );
}

function pretty(value: unknown): string {
  return value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
}

function parsedJson(words: string): { value: unknown } | null {
  if (words.trim() === "") return { value: undefined };
  try {
    return { value: JSON.parse(words) as unknown };
  } catch {
    return null;
  }
}
