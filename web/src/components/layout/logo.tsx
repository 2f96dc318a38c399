/** The name as a mark: a small voice wave and the word. */

import { Group, Text } from "@mantine/core";

export function Logo({ size = 18 }: { size?: 18 | 24 }) {
  return (
    <Group gap={8} wrap="nowrap">
      <svg width={size * 1.3} height={size * 1.3} viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="#0c8577" />
        <path d="M8 14v4M12 10v12M16 7v18M20 11v10M24 14v4" stroke="#fff" strokeWidth="2.4" strokeLinecap="round" />
      </svg>
      <Text component="span" fw={600} fz={size === 18 ? "lg" : "xl"} lh={1} style={{ letterSpacing: "-0.02em" }}>
        Offhook
      </Text>
    </Group>
  );
}
