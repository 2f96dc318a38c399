/** The first step: who is called, by which agent. The file is looked at here and sent while the reader goes on. */

import { Group, Select, Stack, TextInput } from "@mantine/core";
import { Panel } from "../../../components/layout/panel";
import { useAgentChoices } from "../../../lib/organization/agent-names";
import { ContactFileField, type Contacts } from "./contact-file-field";

interface ContactsStepProps {
  name: string;
  agentId: string | null;
  contacts: Contacts | null;
  onName: (name: string) => void;
  onAgent: (id: string | null) => void;
  onContacts: (contacts: Contacts | null) => void;
  errorAt: (name: string) => string | undefined;
}

export function ContactsStep({ name, agentId, contacts, onName, onAgent, onContacts, errorAt }: ContactsStepProps) {
  const agents = useAgentChoices();
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
            data={agents}
            value={agentId}
            onChange={onAgent}
            error={errorAt("workflow_id")}
            maw={420}
          />
        </Group>
      </Panel>
      <Panel title="Contacts">
        <ContactFileField contacts={contacts} onContacts={onContacts} error={errorAt("contacts_file_key")} />
      </Panel>
    </Stack>
  );
}
