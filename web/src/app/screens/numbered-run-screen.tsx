/** Leads from the number of a run to its page, which is below its agent. */

import { Skeleton } from "@mantine/core";
import { Navigate, useParams, useSearch } from "@tanstack/react-router";
import { Problem } from "../../components/feedback/problem";
import { Page } from "../../components/layout/page";
import { useRunByNumber } from "../../features/runs";
import { usePageTitle } from "../../lib/ui/use-page-title";
import { NotFound } from "./not-found";

export function NumberedRunScreen() {
  const { runId } = useParams({ from: "/signed-in/runs/$runId" });
  const search = useSearch({ from: "/signed-in/runs/$runId" });
  const found = useRunByNumber(runId);
  if (runId < 1 || found.data === null) return <NotFound />;
  if (found.isError)
    return (
      <Page title={`Run ${runId}`}>
        <Problem title="The run could not be loaded" error={found.error} onRetry={() => void found.refetch()} />
      </Page>
    );
  if (found.data === undefined) return <Loading runId={runId} />;
  const agentId = found.data.workflow_id;
  return <Navigate to="/agents/$agentId/runs/$runId" params={{ agentId, runId }} search={search} replace />;
}

function Loading({ runId }: { runId: number }) {
  usePageTitle(`Run ${runId}`);
  return <Skeleton h={420} radius={14} role="status" aria-busy="true" aria-label="Loading the run" />;
}
