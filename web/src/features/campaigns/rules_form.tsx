/** When people may be called, how many at once, and what happens when somebody does not answer. */

import {
  Checkbox,
  Group,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  TagsInput,
  Text,
  Textarea,
} from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import type { ReactNode } from "react";
import { Panel } from "../../components/panel";
import { useWhereabouts } from "../../lib/account";
import { AccountChoice, useHasChoice } from "./account_choice";
import { countryChoices } from "./countries";
import type { Rules } from "./draft";
import { WeekGrid } from "./week_grid";

const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];

const COUNTRIES = countryChoices();

interface RulesFormProps {
  rules: Rules;
  onChange: (rules: Rules) => void;
  /** What the API said about a field, by the field's name there. */
  errorAt: (name: string) => string | undefined;
}

export function RulesForm({ rules, onChange, errorAt }: RulesFormProps) {
  const set = <Name extends keyof Rules>(name: Name, value: Rules[Name]) => onChange({ ...rules, [name]: value });
  const isNarrow = useMediaQuery("(max-width: 40em)") ?? false;
  const hasChoice = useHasChoice(rules.accountId);
  const limit = useWhereabouts().data?.limits.concurrent_calls;
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
      <Panel title="Calling hours">
        <Padded>
          <SegmentedControl
            aria-label="When people may be called"
            value={rules.hasHours ? "hours" : "any"}
            onChange={(value) => set("hasHours", value === "hours")}
            data={[
              { value: "any", label: "At any time" },
              { value: "hours", label: "In these hours" },
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
                  label="Also where the callee's number may be"
                  checked={rules.inCalleeZone}
                  onChange={(event) => set("inCalleeZone", event.currentTarget.checked)}
                />
              </Group>
              <TagsInput
                label="Nobody is called on"
                description="Days as 2026-12-25; Enter adds one"
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
      <Panel title="Pace and cost">
        <Padded>
          <Group align="flex-start" gap="lg">
            <NumberInput
              label="Calls at the same time"
              description={limit === undefined ? undefined : `Your organisation may have ${limit}`}
              min={1}
              value={rules.maxConcurrency}
              onChange={(value) => set("maxConcurrency", numberOf(value))}
              error={errorAt("max_concurrency")}
              w={220}
            />
            <NumberInput
              label="Pause when it has cost"
              description="Empty: no limit"
              prefix="$"
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
      <Panel title="Where people may be called">
        <Padded>
          <MultiSelect
            label="Countries"
            searchable
            clearable
            placeholder={rules.countries.length === 0 ? "Every country" : ""}
            data={COUNTRIES}
            value={rules.countries}
            onChange={(codes) => set("countries", codes)}
            error={errorAt("destinations")}
            maw={540}
          />
          <Switch
            label="Also premium-rate numbers"
            checked={rules.allowsPremium}
            onChange={(event) => set("allowsPremium", event.currentTarget.checked)}
          />
        </Padded>
      </Panel>
      <Retries rules={rules} onChange={onChange} error={errorAt("retry_config")} />
      <Panel title="When a machine answers">
        <Padded>
          <SegmentedControl
            aria-label="When a machine answers"
            value={rules.voicemail}
            onChange={(value) => set("voicemail", value as Rules["voicemail"])}
            orientation={isNarrow ? "vertical" : "horizontal"}
            data={[
              { value: "workflow", label: "As the agent says" },
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
    </Stack>
  );
}

interface RetriesProps {
  rules: Rules;
  onChange: (rules: Rules) => void;
  error: string | undefined;
}

function Retries({ rules, onChange, error }: RetriesProps) {
  const set = <Name extends keyof Rules>(name: Name, value: Rules[Name]) => onChange({ ...rules, [name]: value });
  return (
    <Panel
      title="Again, when nobody answers"
      right={
        <Switch
          aria-label="Call again"
          checked={rules.hasRetries}
          onChange={(event) => set("hasRetries", event.currentTarget.checked)}
        />
      }
    >
      <Padded>
        {rules.hasRetries ? (
          <Group align="flex-start" gap="lg">
            <NumberInput
              label="Times"
              min={0}
              max={20}
              value={rules.maxRetries}
              onChange={(value) => set("maxRetries", numberOf(value))}
              w={110}
            />
            <NumberInput
              label="Minutes between"
              min={0}
              value={rules.retryMinutes}
              onChange={(value) => set("retryMinutes", numberOf(value))}
              w={150}
            />
            <Checkbox.Group
              label="After"
              value={[rules.onBusy && "busy", rules.onNoAnswer && "no_answer", rules.onVoicemail && "voicemail"].filter(
                (name) => name !== false,
              )}
              onChange={(names) =>
                onChange({
                  ...rules,
                  onBusy: names.includes("busy"),
                  onNoAnswer: names.includes("no_answer"),
                  onVoicemail: names.includes("voicemail"),
                })
              }
            >
              <Group mt={10}>
                <Checkbox value="busy" label="Busy" />
                <Checkbox value="no_answer" label="No answer" />
                <Checkbox value="voicemail" label="Voicemail" />
              </Group>
            </Checkbox.Group>
          </Group>
        ) : (
          <Text fz="sm" c="dimmed">
            Everybody is called once.
          </Text>
        )}
        <FieldError words={error} />
      </Padded>
    </Panel>
  );
}

/** Empty while somebody types. */
function numberOf(value: string | number): number | "" {
  return typeof value === "number" ? value : "";
}

function FieldError({ words }: { words: string | undefined }) {
  return words === undefined ? null : (
    <Text fz="sm" c="red" role="alert">
      {words}
    </Text>
  );
}

function Padded({ children }: { children: ReactNode }) {
  return (
    <Stack gap="md" p="lg">
      {children}
    </Stack>
  );
}
