/** Opens the command palette by its keys, from wherever the focus is. It comes when it is first asked for. */

import { useHotkeys } from "@mantine/hooks";
import { Suspense, lazy, useState } from "react";

const CommandPalette = lazy(() =>
  import("./command-palette").then(({ CommandPalette: component }) => ({ default: component })),
);

export function PaletteKey() {
  const [isOpen, setIsOpen] = useState(false);
  useHotkeys([["mod+K", () => setIsOpen((was) => !was)]], []);
  if (!isOpen) return null;
  return (
    <Suspense fallback={null}>
      <CommandPalette onClose={() => setIsOpen(false)} />
    </Suspense>
  );
}
