/** The page at /. */

import { useSearch } from "@tanstack/react-router";
import { AgentsPage } from "../../features/agents";
import { usePageTitle } from "../../lib/ui/use-page-title";

export function AgentsScreen() {
  usePageTitle("Agents");
  const { create = false } = useSearch({ from: "/signed-in/" });
  return <AgentsPage isCreatingFirst={create} />;
}
