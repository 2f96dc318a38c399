/** The people of a campaign: what became of each, and why one is not being called just now. */

import { Alert, Badge, Button, Group, Loader, Popover, SegmentedControl, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { DataTable, Pager } from "../../components/data_table";
import { Empty, Loaded } from "../../components/page";
import { Panel } from "../../components/panel";
import { messageOf } from "../../lib/errors";
import { dateTime, when, words } from "../../lib/format";
import { useLastPage } from "../../lib/last_page";
import type { Schema } from "../../lib/types";
import { type Campaign, type ContactState, useContacts, useWhyNotNow } from "./api";

const COLUMNS = [
  { title: "Row", isRight: true, width: 80 },
  { title: "Number" },
  { title: "State" },
  { title: "Calls", isRight: true },
  { title: "When" },
  { title: "Why not now", isQuiet: true },
];

export function ContactsPanel({ campaign }: { campaign: Campaign }) {
  const [state, setState] = useState<ContactState | null>(null);
  const [page, setPage] = useState(1);
  const contacts = useContacts(campaign.id, state, page, campaign.status === "running");
  useLastPage(page, contacts, setPage);
  return (
    <Panel
      title="Contacts"
      right={
        <Button size="xs" variant="subtle" renderRoot={(props) => <Link to="/runs" search={{ campaign: campaign.id }} {...props} />}>
          All calls
        </Button>
      }
    >
      <Group px="md" pt="sm">
        <SegmentedControl
          size="xs"
          aria-label="State of contacts"
          value={state ?? "all"}
          onChange={(value) => {
            setState(value === "all" ? null : (value as ContactState));
            setPage(1);
          }}
          data={[
            { value: "all", label: "All" },
            { value: "pending", label: "Waiting" },
            { value: "calling", label: "Being called" },
            { value: "done", label: "Done" },
          ]}
        />
      </Group>
      <Loaded query={contacts} what="The contacts">
        {(data) =>
          data.contacts.length === 0 ? (
            <Empty isInside title="Nobody here">
              No contact is in this state.
            </Empty>
          ) : (
            <>
              <DataTable label="Contacts" columns={COLUMNS}>
                {data.contacts.map((contact) => (
                  <ContactRow key={contact.id} campaignId={campaign.id} contact={contact} />
                ))}
              </DataTable>
              <Pager page={data.page} pages={data.total_pages} total={data.total_count} what="contacts" onChange={setPage} />
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

function ContactRow({ campaignId, contact }: { campaignId: number; contact: Schema<"ContactItem"> }) {
  const isDone = contact.state === "done";
  const word = isDone ? (contact.outcome ?? "done") : contact.state;
  const moment = isDone ? contact.done_at : contact.due_at;
  return (
    <Table.Tr>
      <Table.Td ta="right" c="dimmed">
        {contact.row_number}
      </Table.Td>
      <Table.Td fw={600}>{contact.phone_number}</Table.Td>
      <Table.Td>
        <Badge color={colourOf(word)} variant={contact.state === "calling" ? "dot" : "light"}>
          {words(word === "pending" ? "waiting" : word === "calling" ? "being_called" : word)}
        </Badge>
      </Table.Td>
      <Table.Td ta="right">{contact.attempts}</Table.Td>
      <Table.Td c="dimmed">{moment === null ? "–" : isDone ? when(moment) : contact.hold ? `${words(contact.hold)}, due ${dateTime(moment)}` : "In line"}</Table.Td>
      <Table.Td ta="right">{contact.state === "pending" && <Why campaignId={campaignId} contact={contact} />}</Table.Td>
    </Table.Tr>
  );
}

function Why({ campaignId, contact }: { campaignId: number; contact: Schema<"ContactItem"> }) {
  const [isOpen, setIsOpen] = useState(false);
  const why = useWhyNotNow(campaignId, isOpen ? contact.id : null);
  return (
    <Popover opened={isOpen} onChange={setIsOpen} width={320} position="left" withArrow trapFocus>
      <Popover.Target>
        <Button size="compact-sm" variant="subtle" onClick={() => setIsOpen(!isOpen)} aria-label={`Why not now? ${contact.phone_number}`}>
          Why not now?
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        {why.isPending && <Loader size="sm" aria-label="Asking" />}
        {why.isError && <Alert color="red">{messageOf(why.error)}</Alert>}
        {why.data && (
          <>
            <Text fz="sm" fw={600}>
              {why.data.can_be_called ? "Next in line" : words(why.data.rule ?? "held back")}
            </Text>
            <Text fz="sm">{why.data.explanation}</Text>
            {why.data.until && (
              <Text fz="sm" c="dimmed">
                Until {dateTime(why.data.until)}
              </Text>
            )}
          </>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}

const COLOURS: Record<string, string> = { answered: "brand", voicemail: "violet", no_answer: "yellow", busy: "yellow", failed: "red", invalid_number: "red" };

function colourOf(word: string): string {
  return COLOURS[word] ?? "gray";
}
