/** Fields for the date and time at which a campaign starts on its own. */

import { Group, SegmentedControl, Text, TextInput } from "@mantine/core";
import { Panel } from "../../../components/layout/panel";
import { zoneName } from "../../../lib/format/time-zones";
import type { WallTime } from "../../../lib/format/zoned-time";
import { FieldError, Padded } from "../rules/rule-panels";
import { firstStart, startProblem } from "./start-time";

interface StartFieldsProps {
  start: WallTime;
  zone: string;
  onChange: (start: WallTime) => void;
  error: string | undefined;
}

export function StartFields({ start, zone, onChange, error }: StartFieldsProps) {
  return (
    <>
      <Group align="flex-end" gap="lg">
        <TextInput
          type="date"
          label="Date"
          value={start.day}
          onChange={(event) => onChange({ ...start, day: event.currentTarget.value })}
          w={180}
        />
        <TextInput
          type="time"
          label="Time"
          value={start.time}
          onChange={(event) => onChange({ ...start, time: event.currentTarget.value })}
          w={150}
        />
        <Text fz="sm" c="dimmed" pb={8}>
          Time zone: {zoneName(zone)}
        </Text>
      </Group>
      <Text fz="sm" c="dimmed">
        Outside its calling hours, the campaign waits until they begin. It does not start if you have lost permission to
        start campaigns by then.
      </Text>
      <FieldError words={startProblem(start, zone) ?? error} />
    </>
  );
}

interface StartPanelProps {
  /** Null: people start it. */
  start: WallTime | null;
  zone: string;
  onChange: (start: WallTime | null) => void;
  error: string | undefined;
}

export function StartPanel({ start, zone, onChange, error }: StartPanelProps) {
  return (
    <Panel title="Start">
      <Padded>
        <SegmentedControl
          aria-label="Start"
          value={start === null ? "hand" : "time"}
          onChange={(value) => onChange(value === "hand" ? null : firstStart(zone))}
          data={[
            { value: "hand", label: "Manually" },
            { value: "time", label: "At a date and time" },
          ]}
          w="fit-content"
        />
        {start !== null && <StartFields start={start} zone={zone} onChange={onChange} error={error} />}
      </Padded>
    </Panel>
  );
}
