/** One row for each contact: what became of it, and why it is not being called just now. */

import { Alert, Badge, Button, Loader, Popover, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ResultBadge } from "../../../components/runs/result-badge";
import { CallSparkline } from "../../../components/runs/strip/call-sparkline";
import type { Strip } from "../../../components/runs/strip/strip-shapes";
import { DataTable } from "../../../components/tables/data-table";
import { nameClass } from "../../../components/tables/link-row";
import { messageOf } from "../../../lib/api/errors";
import type { Schema } from "../../../lib/api/types";
import { outcomeBadgeColor } from "../../../lib/format/colors";
import { formatDateTime, formatTimeUntil, formatTimeAgo, humanize } from "../../../lib/format/format";
import { useRunStrips } from "../../../lib/runs/run-strips";
import { type Campaign, useWhyNotNow } from "../api";
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

export function ContactTable({ campaign, contacts }: { campaign: Campaign; contacts: Contact[] }) {
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

function whenWords(campaign: Campaign, contact: Contact): string {
  if (contact.state === "calling") return "Now";
  if (contact.state === "pending")
    return describeDueTime(campaign, contact.hold, contact.due_at === null ? "" : formatTimeUntil(contact.due_at));
  const because =
    contact.reason !== null && contact.reason !== contact.outcome ? `, ${humanize(contact.reason).toLowerCase()}` : "";
  return `${contact.done_at === null ? "–" : formatTimeAgo(contact.done_at)}${because}`;
}

function Why({ campaignId, contact }: { campaignId: number; contact: Contact }) {
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
