/** The form for calling hours, concurrency, and retries. */

import {
  Group,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  TagsInput,
  Textarea,
} from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Panel } from "../../../components/layout/panel";
import { useOrganizationContext } from "../../../lib/organization/organization-context";
import { AccountChoice, useHasChoice } from "./account-choice";
import { countryChoices } from "../../../lib/format/countries";
import { zoneChoices } from "../../../lib/format/time-zones";
import type { Rules } from "./draft";
import { RetryRules } from "./retry-rules";
import { FieldError, numberOf, Padded } from "./rule-panels";
import { WeekGrid } from "./week-grid";

const ZONES = zoneChoices();

const COUNTRIES = countryChoices();

/** So that fields beside each other line up, however long their descriptions are. */
const DESCRIBED_BELOW: ("label" | "input" | "description" | "error")[] = ["label", "input", "description", "error"];

interface RulesFormProps {
  rules: Rules;
  onChange: (rules: Rules) => void;
  /** What the API said about a field, by the field's name there. */
  errorAt: (name: string) => string | undefined;
}

export function RulesForm({ rules, onChange, errorAt }: RulesFormProps) {
  const set = <Name extends keyof Rules>(name: Name, value: Rules[Name]) => onChange({ ...rules, [name]: value });
  const hasChoice = useHasChoice(rules.accountId);
  return (
    <Stack gap="lg">
      {hasChoice && (
        <Panel title="Carrier account">
          <Padded>
            <AccountChoice
              value={rules.accountId}
              onChange={(id) => set("accountId", id)}
              error={errorAt("telephony_configuration_id")}
            />
          </Padded>
        </Panel>
      )}
      <HoursPanel rules={rules} set={set} errorAt={errorAt} />
      <PacePanel rules={rules} set={set} errorAt={errorAt} />
      <DestinationsPanel rules={rules} set={set} errorAt={errorAt} />
      <RetryRules rules={rules} onChange={onChange} error={errorAt("retry_config")} />
      <VoicemailPanel rules={rules} set={set} errorAt={errorAt} />
    </Stack>
  );
}

interface PanelProps extends Pick<RulesFormProps, "rules" | "errorAt"> {
  set: <Name extends keyof Rules>(name: Name, value: Rules[Name]) => void;
}

function HoursPanel({ rules, set, errorAt }: PanelProps) {
  return (
    <Panel title="Calling hours">
      <Padded>
        <SegmentedControl
          aria-label="When to call"
          value={rules.hasHours ? "hours" : "any"}
          onChange={(value) => set("hasHours", value === "hours")}
          data={[
            { value: "any", label: "At any time" },
            { value: "hours", label: "During these hours" },
          ]}
          w="fit-content"
        />
        {rules.hasHours && (
          <>
            <WeekGrid week={rules.week} onChange={(week) => set("week", week)} />
            <Group align="flex-end" gap="lg">
              <Select
                label="Time zone"
                searchable
                allowDeselect={false}
                data={ZONES}
                value={rules.timezone}
                onChange={(zone) => set("timezone", zone ?? "UTC")}
                w={260}
              />
              <Switch
                mb={8}
                label="Also apply in the contact's time zone"
                checked={rules.inCalleeZone}
                onChange={(event) => set("inCalleeZone", event.currentTarget.checked)}
              />
            </Group>
            <TagsInput
              label="Holidays"
              description="Format 2026-12-25. Press Enter to add one."
              placeholder={rules.holidays.length === 0 ? "No holidays" : ""}
              value={rules.holidays}
              onChange={(days) => set("holidays", days)}
              maw={540}
            />
          </>
        )}
        <FieldError words={errorAt("calling_hours")} />
      </Padded>
    </Panel>
  );
}

function PacePanel({ rules, set, errorAt }: PanelProps) {
  const limit = useOrganizationContext().data?.limits.concurrent_calls;
  return (
    <Panel title="Pace and cost">
      <Padded>
        <Group align="flex-start" gap="lg">
          <NumberInput
            inputWrapperOrder={DESCRIBED_BELOW}
            label="Concurrency"
            description={limit === undefined ? undefined : `Your organization's limit is ${limit}`}
            clampBehavior="none"
            min={1}
            value={rules.maxConcurrency}
            onChange={(value) => set("maxConcurrency", numberOf(value))}
            error={errorAt("max_concurrency")}
            w={220}
          />
          <NumberInput
            inputWrapperOrder={DESCRIBED_BELOW}
            label="Spend limit"
            description="Pauses the campaign. Leave empty for no limit."
            prefix="$"
            clampBehavior="none"
            min={0}
            decimalScale={2}
            value={rules.spendCap}
            onChange={(value) => set("spendCap", numberOf(value))}
            error={errorAt("spend_cap_cents")}
            w={220}
          />
        </Group>
      </Padded>
    </Panel>
  );
}

function DestinationsPanel({ rules, set, errorAt }: PanelProps) {
  return (
    <Panel title="Destinations">
      <Padded>
        <MultiSelect
          label="Countries"
          searchable
          clearable
          placeholder={rules.countries.length === 0 ? "All countries" : ""}
          data={COUNTRIES}
          value={rules.countries}
          onChange={(codes) => set("countries", codes)}
          error={errorAt("destinations")}
          maw={540}
        />
        <Switch
          label="Allow premium-rate numbers"
          checked={rules.allowsPremium}
          onChange={(event) => set("allowsPremium", event.currentTarget.checked)}
        />
      </Padded>
    </Panel>
  );
}

function VoicemailPanel({ rules, set, errorAt }: PanelProps) {
  const isNarrow = useMediaQuery("(max-width: 40em)");
  return (
    <Panel title="Voicemail">
      <Padded>
        <SegmentedControl
          aria-label="Voicemail"
          value={rules.voicemail}
          onChange={(value) => set("voicemail", value)}
          orientation={isNarrow ? "vertical" : "horizontal"}
          data={[
            { value: "workflow", label: "Agent setting" },
            { value: "hang_up", label: "Hang up" },
            { value: "leave_message", label: "Leave a message" },
          ]}
          w="fit-content"
        />
        {rules.voicemail === "leave_message" && (
          <Textarea
            label="Message"
            autosize
            minRows={2}
            value={rules.voicemailMessage}
            onChange={(event) => set("voicemailMessage", event.currentTarget.value)}
            error={errorAt("voicemail")}
          />
        )}
      </Padded>
    </Panel>
  );
}
