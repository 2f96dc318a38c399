/** What to look for among the runs; every filter is one that the API has. */

import {
  Button,
  Group,
  MultiSelect,
  NumberInput,
  Popover,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  TextInput,
} from "@mantine/core";
import { ListFilter } from "lucide-react";
import { humanize } from "../../../lib/format/format";
import { useAgentChoices } from "../../../lib/organization/agent-names";
import { channelName, PLATFORM_TAG_LABELS, tagLabel, tagOf } from "../../../lib/runs/run-labels";
import { useCampaignNames, useResultNames } from "../api";
import classes from "../runs.module.css";
import { countFilters, MAX_WORDS, type RunSearch, toList, withoutFilters } from "./search";
import { TypedFilter } from "./typed-filter";
import { ValueFilters } from "./value-filters";

const named = (names: string[]) => names.map((value) => ({ value, label: humanize(value) }));
const OUTCOMES = named([
  "answered",
  "not_understood",
  "voicemail",
  "transferred",
  "no_answer",
  "busy",
  "failed",
  "canceled",
]);
const STATES = named(["initiated", "ringing", "in_progress", "completed", "busy", "no_answer", "failed", "canceled"]);
const CHANNELS = ["browser", "textchat", "sandbox", "cloudonix", "plivo", "telnyx", "twilio", "vobiz", "vonage"].map(
  (value) => ({ value, label: channelName(value) }),
);
const SUCCESS = [
  { value: "yes", label: "Success" },
  { value: "no", label: "Failure" },
];

interface FiltersProps {
  search: RunSearch;
  onChange: (search: RunSearch) => void;
}

/** Without `name` when there is nothing to look for, and on the first page again. */
function withFilter<Name extends keyof RunSearch>(
  search: RunSearch,
  name: Name,
  value: RunSearch[Name] | null | "",
): RunSearch {
  const { [name]: _, page: __, ...rest } = search;
  const isEmpty = value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  return isEmpty ? rest : { ...rest, [name]: value };
}

export function Filters({ search, onChange }: FiltersProps) {
  const agents = useAgentChoices();
  const set = <Name extends keyof RunSearch>(name: Name, value: RunSearch[Name] | null | "") =>
    onChange(withFilter(search, name, value));
  const count = countFilters(search);
  return (
    <Group gap="sm" align="flex-end">
      <TypedFilter
        key={search.words === undefined ? "words-empty" : "words"}
        isQuiet
        label="Search transcripts"
        placeholder="Search transcripts"
        value={search.words}
        onChange={(value) => set("words", value.slice(0, MAX_WORDS))}
      />
      <MultiSelect
        aria-label="Agent"
        className={classes.several}
        placeholder={search.agent === undefined ? "All agents" : ""}
        searchable
        clearable
        data={agents}
        value={toList(search.agent)}
        onChange={(value) => set("agent", value.map(Number))}
      />
      <MultiSelect
        aria-label="Outcome"
        className={classes.several}
        placeholder={search.outcome === undefined ? "Any outcome" : ""}
        clearable
        data={OUTCOMES}
        value={search.outcome ?? []}
        onChange={(value) => set("outcome", value)}
      />
      <TypedFilter
        key={search.phone === undefined ? "phone-empty" : "phone"}
        isQuiet
        label="Phone number"
        placeholder="Part of a number"
        value={search.phone}
        onChange={(value) => set("phone", value)}
      />
      <More search={search} onChange={onChange} />
      {count > 0 && (
        <Button variant="subtle" color="gray" onClick={() => onChange(withoutFilters(search))}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

function More({ search, onChange }: FiltersProps) {
  const campaigns = useCampaignNames();
  const results = useResultNames();
  const set = <Name extends keyof RunSearch>(name: Name, value: RunSearch[Name] | null | "") =>
    onChange(withFilter(search, name, value));
  const { agent: _a, outcome: _o, phone: _p, words: _w, ...others } = search;
  const count = countFilters(others);
  const seconds = (value: string | number) => (typeof value === "number" ? value : null);
  const inside = { comboboxProps: { withinPortal: false } };
  return (
    <Popover position="bottom-start" width="min(440px, calc(100vw - 32px))" trapFocus shadow="md" hideDetached={false}>
      <Popover.Target>
        <Button variant="default" leftSection={<ListFilter size={16} />}>
          {count === 0 ? "More filters" : `More filters (${count})`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="More filters">
        <Stack gap="sm">
          <SimpleGrid cols={2} spacing="sm">
            <TextInput
              type="date"
              label="From"
              value={search.from ?? ""}
              max={search.to}
              onChange={(event) => set("from", event.currentTarget.value)}
            />
            <TextInput
              type="date"
              label="To"
              value={search.to ?? ""}
              min={search.from}
              onChange={(event) => set("to", event.currentTarget.value)}
            />
            <NumberInput
              label="Min duration (s)"
              allowNegative={false}
              value={search.min ?? ""}
              onChange={(value) => set("min", seconds(value))}
            />
            <NumberInput
              label="Max duration (s)"
              allowNegative={false}
              value={search.max ?? ""}
              onChange={(value) => set("max", seconds(value))}
            />
            <MultiSelect
              {...inside}
              label="Channel"
              placeholder={search.mode === undefined ? "Any" : ""}
              data={CHANNELS}
              value={search.mode ?? []}
              onChange={(value) => set("mode", value)}
            />
            <MultiSelect
              {...inside}
              label="Status"
              placeholder={search.status === undefined ? "Any" : ""}
              data={STATES}
              value={search.status ?? []}
              onChange={(value) => set("status", value)}
            />
            <TagsInput
              {...inside}
              label="Result"
              placeholder={search.result === undefined ? "Any of these" : ""}
              data={results.data ?? []}
              value={search.result ?? []}
              onChange={(value) => set("result", value)}
            />
            <Select
              {...inside}
              label="Success"
              placeholder="Any"
              clearable
              data={SUCCESS}
              value={search.success ?? null}
              onChange={(value) => set("success", value === "yes" || value === "no" ? value : null)}
            />
            <TagsInput
              {...inside}
              label="Tags"
              placeholder={search.tag === undefined ? "Any of these" : ""}
              data={[...PLATFORM_TAG_LABELS]}
              value={(search.tag ?? []).map(tagLabel)}
              onChange={(value) => set("tag", value.map(tagOf))}
            />
            <Select
              {...inside}
              label="Direction"
              placeholder="Any"
              clearable
              data={named(["inbound", "outbound"])}
              value={search.direction ?? null}
              onChange={(value) => set("direction", value)}
            />
            <MultiSelect
              {...inside}
              label="Campaign"
              placeholder={search.campaign === undefined ? "Any" : ""}
              searchable
              data={campaigns.data ?? []}
              value={toList(search.campaign)}
              onChange={(value) => set("campaign", value.map(Number))}
            />
            <TypedFilter
              label="Caller's number"
              placeholder="Contains"
              value={search.caller}
              onChange={(value) => set("caller", value)}
            />
            <TypedFilter
              label="Called number"
              placeholder="Contains"
              value={search.called}
              onChange={(value) => set("called", value)}
            />
            <TypedFilter
              label="Carrier call ID"
              placeholder="Contains"
              value={search.call}
              onChange={(value) => set("call", value)}
            />
            <NumberInput
              label="Run ID"
              placeholder="As in the URL"
              allowNegative={false}
              allowDecimal={false}
              value={search.run ?? ""}
              onChange={(value) => set("run", seconds(value))}
            />
          </SimpleGrid>
          <ValueFilters values={search.values ?? []} onChange={(values) => set("values", values)} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
