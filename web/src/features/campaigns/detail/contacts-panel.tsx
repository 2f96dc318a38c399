/** The people of a campaign: those that are looked for, by what became of them. */

import { Button, Group, SegmentedControl, Select } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Pager } from "../../../components/tables/data-table";
import { Empty, Loaded } from "../../../components/layout/page";
import { Panel } from "../../../components/layout/panel";
import { humanize } from "../../../lib/format/format";
import { useLastPage } from "../../../lib/ui/last-page";
import { type Campaign, OUTCOMES, useCampaignResults, useContacts, type WhichContacts } from "../api";
import { ContactTable } from "./contact-table";

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
