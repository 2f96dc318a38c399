/** The title of the browser's tab and of its history. */

import { useDocumentTitle } from "@mantine/hooks";

export function usePageTitle(title: string): void {
  useDocumentTitle(`${title} · Offhook`);
}
