/** The page at /. */

import { AgentsPage } from "../../features/agents";
import { usePageTitle } from "../../lib/ui/use-page-title";

export function AgentsScreen() {
  usePageTitle("Agents");
  return <AgentsPage />;
}
