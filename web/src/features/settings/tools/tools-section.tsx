/** What agents can do besides talking. */

import { Badge, Button, Group, Menu, Stack, Switch, Table, Text } from "@mantine/core";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { DataTable, ShowMore } from "../../../components/tables/data-table";
import { Dialog } from "../../../components/forms/dialog";
import { Empty, Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { Problem } from "../../../components/feedback/problem";
import { usePermissions } from "../../../lib/organization/organization-context";
import { pluralize, formatTimeAgo, humanize } from "../../../lib/format/format";
import { notifySuccess, notifyError } from "../../../lib/ui/notifications";
import { type Tool, useArchiveTool, useRefreshMcp, useTestTool, useTools } from "./api";
import { CATEGORIES, draftOf } from "./tool-draft";
import { ToolForm } from "./tool-form";
import { ToolTrial } from "./tool-trial";

const COLUMNS = [
  { title: "Tool" },
  { title: "Type" },
  { title: "Status" },
  { title: "Updated" },
  { title: "Actions", isQuiet: true },
];

export default function ToolsSection() {
  const permissions = usePermissions();
  const tools = useTools();
  const [hasArchived, setHasArchived] = useState(false);
  const [edited, setEdited] = useState<Tool | "new" | null>(null);
  const [tested, setTested] = useState<Tool | null>(null);
  const add = permissions.write && (
    <Button size="sm" onClick={() => setEdited("new")}>
      New tool
    </Button>
  );
  return (
    <>
      <Panel
        title="Tools"
        right={
          <Group>
            <Switch
              label="Archived"
              checked={hasArchived}
              onChange={(event) => setHasArchived(event.currentTarget.checked)}
            />
            {add}
          </Group>
        }
      >
        <Loaded query={tools} what="The tools">
          {(data) => {
            const shown = data.filter((tool) => hasArchived || tool.status !== "archived");
            return shown.length === 0 ? (
              <Empty isInside title="No tools yet">
                Tools let agents look up an order, book a table, transfer a call, or calculate. Tools belong to the
                organization, and each step selects the ones it can use.
              </Empty>
            ) : (
              <>
                <DataTable label="Tools" columns={COLUMNS}>
                  {shown.map((tool) => (
                    <ToolRow
                      key={tool.tool_uuid}
                      tool={tool}
                      onEdit={() => setEdited(tool)}
                      onTest={() => setTested(tool)}
                    />
                  ))}
                </DataTable>
                <ShowMore list={tools} what="tools" />
              </>
            );
          }}
        </Loaded>
      </Panel>
      {edited !== null && <ToolForm tool={edited === "new" ? null : edited} onClose={() => setEdited(null)} />}
      {tested !== null && <TestTool tool={tested} onClose={() => setTested(null)} />}
    </>
  );
}

function ToolRow({ tool, onEdit, onTest }: { tool: Tool; onEdit: () => void; onTest: () => void }) {
  const permissions = usePermissions();
  const archive = useArchiveTool();
  const refresh = useRefreshMcp();
  const isArchived = tool.status === "archived";
  const turn = () =>
    archive.mutate(
      { uuid: tool.tool_uuid, isArchived },
      {
        onSuccess: () => notifySuccess(isArchived ? "Tool unarchived." : "Tool archived."),
        onError: notifyError,
      },
    );
  const reload = () =>
    refresh.mutate(tool.tool_uuid, {
      onSuccess: ({ discovered_tools: found, error }) =>
        error ? notifyError(new Error(error)) : notifySuccess(`The server offers ${pluralize(found.length, "tool")}.`),
      onError: notifyError,
    });
  return (
    <Table.Tr>
      <Table.Td maw={340}>
        <Text fz="sm" fw={600}>
          {tool.name}
        </Text>
        {tool.description && (
          <Text fz="xs" c="dimmed" truncate>
            {tool.description}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {CATEGORIES.find((category) => category.value === tool.category)?.label ?? humanize(tool.category)}
      </Table.Td>
      <Table.Td>
        <Badge color={tool.status === "active" ? "brand" : "gray"}>{humanize(tool.status)}</Badge>
      </Table.Td>
      <Table.Td c="dimmed">{formatTimeAgo(tool.updated_at ?? tool.created_at)}</Table.Td>
      <Table.Td>
        {permissions.write && (
          <Group gap={6} justify="flex-end" wrap="nowrap">
            {tool.category === "http_api" && (
              <Button size="compact-sm" variant="subtle" onClick={onTest} aria-label={`Test ${tool.name}`}>
                Test
              </Button>
            )}
            {tool.category === "mcp" && (
              <Button
                size="compact-sm"
                variant="subtle"
                onClick={reload}
                loading={refresh.isPending}
                aria-label={`Refresh: ${tool.name}`}
              >
                Refresh
              </Button>
            )}
            <Menu position="bottom-end" withinPortal>
              <Menu.Target>
                <Button size="compact-sm" variant="subtle" color="gray" aria-label={`More actions for ${tool.name}`}>
                  <Ellipsis size={16} />
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                {!isArchived && <Menu.Item onClick={onEdit}>Edit</Menu.Item>}
                <Menu.Item onClick={turn}>{isArchived ? "Unarchive" : "Archive"}</Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function TestTool({ tool, onClose }: { tool: Tool; onClose: () => void }) {
  const test = useTestTool(tool.tool_uuid);
  return (
    <Dialog isOpen onClose={onClose} title={`Test “${tool.name}”`} size="lg">
      <Stack>
        <ToolTrial
          parameters={draftOf(tool).parameters}
          isBusy={test.isPending}
          answer={test.data}
          onSend={test.mutate}
        />
        {test.isError && <Problem error={test.error} />}
      </Stack>
    </Dialog>
  );
}
