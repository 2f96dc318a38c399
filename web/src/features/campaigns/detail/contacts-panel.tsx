/** The people of a campaign: what became of each, and why one is not being called just now. */

import { Alert, Badge, Button, Group, Loader, Popover, SegmentedControl, Select, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { DataTable, Pager } from "../../../components/tables/data-table";
import { CallSparkline } from "../../../components/runs/strip/call-sparkline";
import type { Strip } from "../../../components/runs/strip/strip-shapes";
import { ResultBadge } from "../../../components/runs/result-badge";
import { nameClass } from "../../../components/tables/link-row";
import { Empty, Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { messageOf } from "../../../lib/api/errors";
import { outcomeBadgeColor } from "../../../lib/format/colors";
import { formatDateTime, formatTimeUntil, formatTimeAgo, humanize } from "../../../lib/format/format";
import { useRunStrips } from "../../../lib/runs/run-strips";
import { useLastPage } from "../../../lib/ui/last-page";
import type { Schema } from "../../../lib/api/types";
import { type Campaign, OUTCOMES, useCampaignResults, useContacts, useWhyNotNow, type WhichContacts } from "../api";
import { describeDueTime } from "../rules/rule-descriptions";

type Contact = Schema<"ContactItem">;

const HEARD: ReadonlySet<string> = new Set(["answered", "not_understood", "interrupted_by_us", "voicemail"]);

const COLUMNS = [
  { title: "Row", isRight: true, width: 80 },
  { title: "Contact" },
  { title: "Status" },
  { title: "Result" },
  { title: "Calls", isRight: true },
  { title: "When" },
  { title: "Actions", isQuiet: true },
];

export function ContactsPanel({ campaign }: { campaign: Campaign }) {
  const [which, setWhich] = useState<WhichContacts>({ state: null, outcome: null, result: null });
  const [page, setPage] = useState(1);
  const results = useCampaignResults(campaign, campaign.progress.completed);
  const contacts = useContacts(campaign.id, which, page, campaign.status === "running");
  const look = (next: WhichContacts) => {
    setWhich(next);
    setPage(1);
  };
  useLastPage(page, contacts, setPage);
  return (
    <Panel
      title="Contacts"
      right={
        <Button
          size="xs"
          variant="subtle"
          renderRoot={(props) => <Link to="/runs" search={{ campaign: campaign.id }} {...props} />}
        >
          All calls
        </Button>
      }
    >
      <Group px="md" pt="sm" gap="sm">
        <SegmentedControl
          size="xs"
          aria-label="Contact status"
          value={which.state ?? "all"}
          onChange={(value) => look({ ...which, state: value === "all" ? null : value, outcome: null })}
          data={[
            { value: "all", label: "All" },
            { value: "pending", label: "Waiting" },
            { value: "calling", label: "Calling" },
            { value: "done", label: "Done" },
          ]}
        />
        <Select
          size="xs"
          aria-label="Outcome"
          placeholder="Any outcome"
          clearable
          data={OUTCOMES.map((outcome) => ({ value: outcome, label: humanize(outcome) }))}
          value={which.outcome}
          onChange={(outcome) => look({ ...which, state: outcome === null ? null : "done", outcome })}
          w={160}
        />
        {results.data !== undefined && results.data.results.length > 0 && (
          <Select
            size="xs"
            aria-label="Result"
            placeholder="Any result"
            clearable
            data={results.data.results.map((one) => one.name)}
            value={which.result}
            onChange={(result) => look({ ...which, result })}
            w={160}
          />
        )}
      </Group>
      <Loaded query={contacts} what="The contacts">
        {(data) =>
          data.contacts.length === 0 ? (
            <Empty isInside title="No contacts">
              {which.result !== null
                ? `No contacts have the result “${which.result}”.`
                : which.outcome === null
                  ? "No contacts have this status."
                  : `No contacts have the outcome “${humanize(which.outcome)}”.`}
            </Empty>
          ) : (
            <>
              <ContactTable campaign={campaign} contacts={data.contacts} />
              <Pager
                page={data.page}
                pages={data.total_pages}
                total={data.total_count}
                what="contacts"
                onChange={setPage}
              />
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

function ContactTable({ campaign, contacts }: { campaign: Campaign; contacts: Contact[] }) {
  const strips = useRunStrips(contacts.filter(hasTalked).map((contact) => contact.run_id ?? 0));
  return (
    <DataTable label="Contacts" columns={COLUMNS}>
      {contacts.map((contact) => (
        <ContactRow
          key={contact.id}
          campaign={campaign}
          contact={contact}
          strip={contact.run_id === null ? undefined : strips.get(contact.run_id)}
        />
      ))}
    </DataTable>
  );
}

/** Other calls have no sound. */
function hasTalked(contact: Contact): boolean {
  return contact.run_id !== null && contact.outcome !== null && HEARD.has(contact.outcome);
}

interface ContactRowProps {
  campaign: Campaign;
  contact: Contact;
  strip: Strip | undefined;
}

function ContactRow({ campaign, contact, strip }: ContactRowProps) {
  const isDone = contact.state === "done";
  const word = isDone ? (contact.outcome ?? "done") : contact.state;
  const known = Object.entries(contact.variables).filter(([, value]) => String(value) !== "");
  return (
    <Table.Tr>
      <Table.Td ta="right" c="dimmed">
        {contact.row_number}
      </Table.Td>
      <Table.Td maw={320}>
        {contact.run_id === null ? (
          <Text fz="sm" fw={600}>
            {contact.phone_number}
          </Text>
        ) : (
          <Link
            to="/agents/$agentId/runs/$runId"
            params={{ agentId: campaign.workflow_id, runId: contact.run_id }}
            className={nameClass}
            aria-label={`Latest call to ${contact.phone_number}`}
          >
            {contact.phone_number}
          </Link>
        )}
        {hasTalked(contact) && (
          <div>
            <CallSparkline strip={strip} />
          </div>
        )}
        {known.length > 0 && (
          <Text
            fz="xs"
            c="dimmed"
            lineClamp={2}
            style={{ whiteSpace: "normal" }}
            title={known.map(([name, value]) => `${humanize(name)}: ${String(value)}`).join("\n")}
          >
            {known.map(([name, value]) => `${humanize(name)}: ${String(value)}`).join(" · ")}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Badge color={outcomeBadgeColor(word)} variant={contact.state === "calling" ? "dot" : "light"}>
          {humanize(word === "pending" ? "waiting" : word)}
        </Badge>
      </Table.Td>
      <Table.Td>
        <ResultBadge result={contact.result} isSuccess={contact.is_success} />
      </Table.Td>
      <Table.Td ta="right">
        {contact.attempts > 1 ? (
          <Link
            to="/runs"
            search={{ campaign: campaign.id, phone: contact.phone_number }}
            aria-label={`All ${contact.attempts} calls to ${contact.phone_number}`}
          >
            {contact.attempts}
          </Link>
        ) : (
          contact.attempts
        )}
      </Table.Td>
      <Table.Td c="dimmed">{whenWords(campaign, contact)}</Table.Td>
      <Table.Td ta="right">
        {contact.state === "pending" && <Why campaignId={campaign.id} contact={contact} />}
      </Table.Td>
    </Table.Tr>
  );
}

function whenWords(campaign: Campaign, contact: Schema<"ContactItem">): string {
  if (contact.state === "calling") return "Now";
  if (contact.state === "pending")
    return describeDueTime(campaign, contact.hold, contact.due_at === null ? "" : formatTimeUntil(contact.due_at));
  const because =
    contact.reason !== null && contact.reason !== contact.outcome ? `, ${humanize(contact.reason).toLowerCase()}` : "";
  return `${contact.done_at === null ? "–" : formatTimeAgo(contact.done_at)}${because}`;
}

function Why({ campaignId, contact }: { campaignId: number; contact: Schema<"ContactItem"> }) {
  const [isOpen, setIsOpen] = useState(false);
  const why = useWhyNotNow(campaignId, isOpen ? contact.id : null);
  return (
    <Popover opened={isOpen} onChange={setIsOpen} width={320} position="left" withArrow trapFocus>
      <Popover.Target>
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() => setIsOpen(!isOpen)}
          aria-label={`Why waiting? ${contact.phone_number}`}
        >
          Why waiting?
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        {why.isPending && <Loader size="sm" aria-label="Checking" />}
        {why.isError && <Alert color="red">{messageOf(why.error)}</Alert>}
        {why.data && (
          <>
            <Text fz="sm" fw={600}>
              {why.data.can_be_called ? "Next in queue" : humanize(why.data.rule ?? "on hold")}
            </Text>
            <Text fz="sm">{why.data.explanation}</Text>
            {why.data.until && (
              <Text fz="sm" c="dimmed">
                Until {formatDateTime(why.data.until)}
              </Text>
            )}
          </>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
