/** The head of a page, and what a page shows while it loads, when it failed, and when it is empty. */

import { Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./page.module.css";
import { usePageTitle } from "../../lib/ui/use-page-title";
import { Problem } from "../feedback/problem";

interface PageProps {
  title: string;
  /** Names the browser tab where `title` stands on several pages. */
  tabTitle?: string;
  about?: ReactNode;
  /** Buttons, on the right. */
  actions?: ReactNode;
  /** A way back, above the title. */
  back?: ReactNode;
  children: ReactNode;
}

export function Page({ title, tabTitle = title, about, actions, back, children }: PageProps) {
  usePageTitle(tabTitle);
  return (
    <Stack gap="lg">
      <div>
        {back}
        <Group justify="space-between" align="flex-end" gap="md" mt={back ? 6 : 0}>
          <div className={classes.words}>
            <Title order={1} fz="xl">
              {title}
            </Title>
            {about && (
              <Text component="div" c="dimmed" mt={4} maw={typeof about === "string" ? 720 : undefined}>
                {about}
              </Text>
            )}
          </div>
          {actions && <Group gap="sm">{actions}</Group>}
        </Group>
      </div>
      {children}
    </Stack>
  );
}

interface EmptyProps {
  title: string;
  children: ReactNode;
  /** What to do about it. */
  action?: ReactNode;
  /** Within a panel rather than instead of one. */
  isInside?: boolean;
}

export function Empty({ title, children, action, isInside = false }: EmptyProps) {
  return (
    <div className={classes.empty} data-inside={isInside || undefined}>
      <Text fw={600} fz={isInside ? "md" : "lg"}>
        {title}
      </Text>
      <Text c="dimmed" fz="sm" maw={480} ta="center">
        {children}
      </Text>
      {action && (
        <Group mt="sm" justify="center">
          {action}
        </Group>
      )}
    </div>
  );
}

interface LoadedProps<T> {
  query: { data: T | undefined; isError: boolean; error: unknown; refetch: () => unknown };
  /** What could not be loaded, for the sentence: "The keys". */
  what: string;
  height?: number;
  children: (data: T) => ReactNode;
}

/** Data that is there stays on the page when a later request for it fails. */
export function Loaded<T>({ query, what, height = 160, children }: LoadedProps<T>) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isError)
    return <Problem title={`${what} could not be loaded`} error={query.error} onRetry={() => void query.refetch()} />;
  return <Skeleton h={height} radius={14} role="status" aria-busy="true" aria-label={`Loading: ${what}`} />;
}
