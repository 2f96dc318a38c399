/** What the panels of the rules have in common. */

import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** Empty while the user types. */
export function numberOf(value: string | number): number | "" {
  return typeof value === "number" ? value : "";
}

export function FieldError({ words }: { words: string | undefined }) {
  return words === undefined ? null : (
    <Text fz="sm" c="red" role="alert">
      {words}
    </Text>
  );
}

export function Padded({ children }: { children: ReactNode }) {
  return (
    <Stack gap="md" p="lg">
      {children}
    </Stack>
  );
}
