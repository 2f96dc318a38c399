/** The page at /. */

import { useDocumentTitle } from "@mantine/hooks";
import { AgentsPage } from "../../features/agents";

export function AgentsScreen() {
  useDocumentTitle("Agents · Offhook");
  return <AgentsPage />;
}
