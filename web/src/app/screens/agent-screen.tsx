/** The page of one agent: the editor, with a dock for forms, tries, settings and versions; and its conversations. */

import { Center, Loader, SegmentedControl, Skeleton } from "@mantine/core";
import { useParams, useSearch } from "@tanstack/react-router";
import { Suspense, lazy, useDeferredValue, useEffect, useState } from "react";
import { Problem } from "../../components/feedback/problem";
import { Builder, Header, useEditor, useNodeTypes } from "../../features/builder";
import { useAgent } from "../../lib/organization/agent";
import { useOrganizationContext, permissionsOf } from "../../lib/organization/organization-context";
import { ApiError } from "../../lib/api/errors";
import type { Agent } from "../../lib/api/types";
import { usePageTitle } from "../../lib/ui/use-page-title";
import { AgentDock } from "./agent-dock";
import classes from "./agent-screen.module.css";
import { NotFound } from "./not-found";
import { useTestPanel } from "./use-test-panel";

/** Most who open an agent want to build: its conversations come when they are asked for. */
const RunsPanel = lazy(() =>
  import("../../features/runs").then(({ RunsPanel: component }) => ({ default: component })),
);

export function AgentScreen() {
  const { agentId } = useParams({ from: "/signed-in/agents/$agentId" });
  const agent = useAgent(agentId);
  const { step, scenario_from: scenarioFrom } = useSearch({ from: "/signed-in/agents/$agentId" });
  usePageTitle(agent.data?.name ?? "Agent");
  const specs = useNodeTypes();
  const organization = useOrganizationContext();
  const isThere = !agent.isPending && !specs.isPending && !organization.isPending;
  // The editor is large: drawn as deferred, it leaves the browser time in between.
  const isDrawn = useDeferredValue(isThere, false);
  if (agent.isError) {
    if (agent.error instanceof ApiError && [404, 422].includes(agent.error.status)) return <NotFound />;
    return <Problem title="The agent could not be loaded" error={agent.error} onRetry={() => void agent.refetch()} />;
  }
  if (specs.isError)
    return (
      <Problem title="The step types could not be loaded" error={specs.error} onRetry={() => void specs.refetch()} />
    );
  if (agent.isPending || specs.isPending || !isThere || !isDrawn) {
    return (
      <Center className={classes.page} aria-busy="true">
        <Loader role="status" aria-label="Loading the agent" />
      </Center>
    );
  }
  return (
    <AgentView
      key={agentId}
      agent={agent.data}
      specs={specs.data}
      canEdit={permissionsOf(organization.data?.role).write}
      startAt={step}
      scenarioFrom={scenarioFrom}
    />
  );
}

interface AgentViewProps {
  agent: Agent;
  specs: NonNullable<ReturnType<typeof useNodeTypes>["data"]>;
  canEdit: boolean;
  /** The step that a link leads to. */
  startAt: string | undefined;
  /** The run that a link makes a scenario of. */
  scenarioFrom: number | undefined;
}

function AgentView({ agent, specs, canEdit, startAt, scenarioFrom }: AgentViewProps) {
  const editor = useEditor(agent, canEdit, specs);
  const { document, reveal } = editor;
  const isKnown = startAt !== undefined && document.definition.nodes.some((node) => node.id === startAt);
  // Once: later the reader goes where they please.
  useEffect(() => {
    if (isKnown) reveal({ nodeIds: [startAt], edgeIds: [] }, "form");
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [startAt]);
  const madeFrom = canEdit ? scenarioFrom : undefined;
  const testPanel = useTestPanel(agent.id, editor.flush);
  const [view, setView] = useState("build");
  const header = (
    <Header>
      <SegmentedControl
        size="xs"
        aria-label="View"
        value={view}
        onChange={setView}
        data={[
          { value: "build", label: "Build" },
          { value: "runs", label: "Runs" },
        ]}
      />
    </Header>
  );
  const runs = (
    <div className={classes.runs}>
      <Suspense fallback={<Skeleton h={320} radius={14} />}>
        <RunsPanel agentId={agent.id} />
      </Suspense>
    </div>
  );
  return (
    <div className={classes.page}>
      <Builder
        editor={editor}
        liveId={testPanel.nodeId}
        visited={testPanel.visited}
        header={header}
        isDockLinked={madeFrom !== undefined}
        dock={
          <AgentDock
            agent={agent}
            canEdit={canEdit}
            testPanel={testPanel}
            selection={editor.selection}
            form={editor.form}
            scenarioFrom={madeFrom}
          />
        }
        over={view === "runs" ? runs : undefined}
      />
    </div>
  );
}
