/** The first step: who is called, by which agent. The file is looked at here and sent while the reader goes on. */

import { Anchor, Group, Select, Stack, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Panel } from "../../../components/layout/panel";
import { useGivenVariables } from "./agent-variables";
import type { CallingAgent } from "./calling-agents";
import { ContactFileField, type Contacts } from "./contact-file-field";

interface ContactsStepProps {
  name: string;
  agentId: string | null;
  agents: readonly CallingAgent[];
  contacts: Contacts | null;
  onName: (name: string) => void;
  onAgent: (id: string | null) => void;
  onContacts: (contacts: Contacts | null) => void;
  errorAt: (name: string) => string | undefined;
}

export function ContactsStep({
  name,
  agentId,
  agents,
  contacts,
  onName,
  onAgent,
  onContacts,
  errorAt,
}: ContactsStepProps) {
  const chosen = agents.find((agent) => agent.value === agentId);
  const given = useGivenVariables(agentId);
  return (
    <Stack gap="lg">
      <Panel title="Campaign">
        <Group p="lg" align="flex-start" grow preventGrowOverflow={false}>
          <TextInput
            label="Name"
            required
            placeholder="May reminders"
            value={name}
            onChange={(event) => onName(event.currentTarget.value)}
            error={errorAt("name")}
            maw={420}
          />
          <Select
            label="Agent"
            required
            searchable
            data={agents.map(({ value, label, isPublished }) => ({
              value,
              label: isPublished ? label : `${label} (not published)`,
            }))}
            value={agentId}
            onChange={onAgent}
            error={chosen?.isPublished === false ? <Unpublished agent={chosen} /> : errorAt("workflow_id")}
            maw={420}
          />
        </Group>
      </Panel>
      <Panel title="Contacts">
        <ContactFileField
          contacts={contacts}
          given={given}
          onContacts={onContacts}
          error={errorAt("contacts_file_key")}
        />
      </Panel>
    </Stack>
  );
}

/** The link opens a tab, so that what was entered here stays. */
function Unpublished({ agent }: { agent: CallingAgent }) {
  return (
    <>
      This agent has no published version.{" "}
      <Anchor
        inherit
        renderRoot={(props) => (
          <Link to="/agents/$agentId" params={{ agentId: Number(agent.value) }} target="_blank" {...props} />
        )}
      >
        Open it to publish it
      </Anchor>
    </>
  );
}
