/** What only calls with sound have: how the caller speaks, and what must hold of what is heard. */

import { NumberInput, type NumberInputProps, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { type Data, object } from "../../../graph/definition";
import type { ScenarioFieldsProps } from "./caller-fields";
import { issueAt, valueAt, withField, withManner } from "./scenario";

export function SoundManner({ scenario, issues, onChange }: ScenarioFieldsProps) {
  const { interrupts, speed, voice } = object(valueAt(scenario, "caller", "manner"));
  const set = (name: string, value: unknown) => onChange(withManner(scenario, name, value));
  return (
    <Stack gap="sm" role="group" aria-label="Caller, with sound">
      <SoundHeading>Used when scenarios run as calls with sound.</SoundHeading>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        <DecimalInput
          label="Interrupts"
          description="Share of sentences said over the agent."
          placeholder="0%"
          suffix="%"
          min={0}
          max={100}
          number={typeof interrupts === "number" ? rounded(interrupts * 100) : null}
          error={issueAt(issues, "caller.manner.interrupts")}
          onNumber={(percent) => set("interrupts", percent === null ? null : rounded(percent / 100))}
        />
        <DecimalInput
          label="Speed"
          description="1 is 165 words a minute, 2 is twice as fast."
          placeholder="1"
          min={0.5}
          max={2}
          step={0.1}
          number={typeof speed === "number" ? speed : null}
          error={issueAt(issues, "caller.manner.speed")}
          onNumber={(value) => set("speed", value)}
        />
        <TextInput
          label="Voice"
          description="An espeak-ng voice, such as en-gb+f3."
          placeholder="en-us"
          maxLength={40}
          spellCheck={false}
          value={typeof voice === "string" ? voice : ""}
          error={issueAt(issues, "caller.manner.voice")}
          onChange={(event) => set("voice", event.currentTarget.value)}
        />
      </SimpleGrid>
    </Stack>
  );
}

function SoundHeading({ children }: { children: string }) {
  return (
    <div>
      <Text component="h4" fz="sm" fw={600}>
        With sound
      </Text>
      <Text fz="xs" c="dimmed">
        {children}
      </Text>
    </div>
  );
}

export function SoundExpectations(props: ScenarioFieldsProps) {
  return (
    <Stack gap="sm" role="group" aria-label="Expectations, with sound">
      <SoundHeading>Checked when scenarios run as calls with sound.</SoundHeading>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
        <LimitField
          {...props}
          field="max_answer_ms"
          label="Max answer time"
          description="Silence before the agent answers."
          unit=" ms"
          min={1}
          max={60_000}
        />
        <LimitField
          {...props}
          field="max_yield_ms"
          label="Max time to stop"
          description="After the caller interrupts."
          unit=" ms"
          min={1}
          max={60_000}
        />
        <LimitField
          {...props}
          field="max_talk_overs"
          label="Max talk-overs"
          description="Agent begins while the caller speaks."
          min={0}
          max={100}
        />
      </SimpleGrid>
      <PanelExpectations {...props} />
    </Stack>
  );
}

interface PanelFigure {
  field: string;
  label: string;
  description: string;
  unit: number;
  suffix?: string;
}

const PANEL: PanelFigure[] = [
  { field: "L_R", label: "Max average answer time", description: "Over the whole call.", unit: 1, suffix: " s" },
  { field: "R_R", label: "Min turns answered", description: "Share of the caller’s turns.", unit: 100, suffix: "%" },
  { field: "L_Y", label: "Max average time to stop", description: "Over all interruptions.", unit: 1, suffix: " s" },
  {
    field: "R_Y",
    label: "Min interruptions yielded to",
    description: "Share of interruptions.",
    unit: 100,
    suffix: "%",
  },
  { field: "I_A", label: "Max talk-overs per turn", description: "Average of the call.", unit: 1 },
];

/** Figures of a whole call, by the names of published panels. */
function PanelExpectations({ scenario, issues, onChange }: ScenarioFieldsProps) {
  const panel = object(valueAt(scenario, "expect", "panel"));
  const set = (field: string, value: number | null) => {
    const { [field]: _before, ...rest } = panel;
    const next: Data = value === null ? rest : { ...rest, [field]: value };
    onChange(withField(scenario, "expect", "panel", Object.keys(next).length > 0 ? next : null));
  };
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
      {PANEL.map(({ field, unit, suffix = "", ...shown }) => {
        const value = panel[field];
        return (
          <DecimalInput
            key={field}
            {...shown}
            placeholder="Any"
            suffix={suffix}
            min={0}
            number={typeof value === "number" ? rounded(value * unit) : null}
            error={issueAt(issues, `expect.panel.${field}`)}
            onNumber={(number) => set(field, number === null ? null : rounded(number / unit))}
          />
        );
      })}
    </SimpleGrid>
  );
}

/** What the models of the conversation may cost. */
export function CostField({ scenario, issues, onChange }: ScenarioFieldsProps) {
  const value = valueAt(scenario, "expect", "max_cost_cents");
  return (
    <DecimalInput
      label="Max model cost"
      description="At list prices. The built-in model is free."
      placeholder="Any"
      suffix=" ¢"
      min={0}
      number={typeof value === "number" ? value : null}
      error={issueAt(issues, "expect.max_cost_cents")}
      onNumber={(number) => onChange(withField(scenario, "expect", "max_cost_cents", number))}
    />
  );
}

interface DecimalInputProps extends Omit<NumberInputProps, "value" | "onChange"> {
  /** Null for an empty field. */
  number: number | null;
  onNumber: (number: number | null) => void;
}

/** Takes decimals: what is typed stays as it is while it stands for the number, as "0." does for 0. */
function DecimalInput({ number, onNumber, ...shown }: DecimalInputProps) {
  const [typed, setTyped] = useState<number | string>(number ?? "");
  return (
    <NumberInput
      {...shown}
      clampBehavior="none"
      value={numberOf(typed) === number ? typed : (number ?? "")}
      onChange={(next) => {
        setTyped(next);
        onNumber(numberOf(next));
      }}
    />
  );
}

function numberOf(typed: number | string): number | null {
  const value = typed === "" ? NaN : Number(typed);
  return Number.isFinite(value) ? value : null;
}

function rounded(value: number): number {
  return Number(value.toFixed(6));
}

interface LimitFieldProps extends ScenarioFieldsProps {
  /** Of `expect`. */
  field: string;
  label: string;
  description?: string;
  unit?: string;
  min: number;
  max: number;
}

/** The most of something that is allowed; empty: any number. */
export function LimitField({ scenario, issues, onChange, field, unit, ...shown }: LimitFieldProps) {
  const value = valueAt(scenario, "expect", field);
  return (
    <NumberInput
      {...shown}
      {...(unit === undefined ? {} : { suffix: unit })}
      placeholder="Any"
      clampBehavior="none"
      allowDecimal={false}
      value={typeof value === "number" ? value : ""}
      error={issueAt(issues, `expect.${field}`)}
      onChange={(next) => onChange(withField(scenario, "expect", field, typeof next === "number" ? next : null))}
    />
  );
}
