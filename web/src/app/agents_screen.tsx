/** The page at /. */

import { AgentsPage } from "../features/agents";

export function AgentsScreen() {
  return <AgentsPage />;
}
