/** The fields of a retention form, and the question before what it would delete of earlier calls. */

import { NumberInput } from "@mantine/core";
import { useState } from "react";
import {
  areValidPeriods,
  describeDeletions,
  MAX_DAYS,
  type PeriodField,
  type PeriodInput,
  type PeriodName,
  type Periods,
} from "../../lib/organization/retention";
import type { Form } from "../../lib/ui/use-form";

interface PeriodFieldsProps<Name extends PeriodName> {
  fields: readonly PeriodField<Name>[];
  form: Form<Record<Name, PeriodInput>>;
  describe?: (field: PeriodField<Name>) => string;
  placeholder: string;
  size?: string;
  isDisabled: boolean;
}

export function PeriodFields<Name extends PeriodName>({
  fields,
  form,
  describe = ({ description }) => description,
  placeholder,
  size,
  isDisabled,
}: PeriodFieldsProps<Name>) {
  return fields.map((field) => (
    <NumberInput
      key={field.name}
      label={field.label}
      description={describe(field)}
      placeholder={placeholder}
      suffix=" days"
      min={field.minDays}
      max={MAX_DAYS}
      // What was typed stays and is refused: 0 days are not 1.
      clampBehavior="none"
      allowDecimal={false}
      allowNegative={false}
      disabled={isDisabled}
      {...(size === undefined ? {} : { size })}
      {...form.field(field.name)}
    />
  ));
}

interface SavingPeriods<Body extends Periods> {
  /** What would be deleted, while it is asked; null: nothing is asked. */
  deletions: readonly string[] | null;
  /** Saves at once, unless something has to be asked first. */
  submit: (next: Body) => void;
  confirm: () => void;
  cancel: () => void;
}

/** `current`: the periods in effect. `save` is told to call `done` when the question can go. */
export function useSavingPeriods<Body extends Periods>(
  current: Periods,
  fields: readonly PeriodField[],
  save: (next: Body, done: () => void) => void,
): SavingPeriods<Body> {
  const [asked, setAsked] = useState<{ next: Body; deletions: string[] } | null>(null);
  const cancel = () => setAsked(null);
  return {
    deletions: asked?.deletions ?? null,
    submit: (next) => {
      const deletions = areValidPeriods(next, fields) ? describeDeletions(current, next, fields, new Date()) : [];
      if (deletions.length > 0) setAsked({ next, deletions });
      else save(next, cancel);
    },
    confirm: () => asked !== null && save(asked.next, cancel),
    cancel,
  };
}
