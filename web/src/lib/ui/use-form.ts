/** One form: its values, and at each field the sentence of the API when it refuses what was sent. */

import { useState } from "react";
import { fieldErrors, formError } from "../api/errors";
import type { FieldLabels } from "../api/field-messages";

type Input = { currentTarget: { value: string } };
type Box = { currentTarget: { checked: boolean } };

export interface Form<Values extends object> {
  values: Values;
  set: <Name extends keyof Values>(name: Name, value: Values[Name]) => void;
  reset: (values?: Values) => void;
  /** For TextInput, Textarea, PasswordInput. */
  text: (name: keyof Values & string) => { value: string; onChange: (event: Input) => void; error?: string };
  /** For Select, NumberInput, MultiSelect and the like, which hand over the value itself. */
  field: <Name extends keyof Values & string>(
    name: Name,
  ) => { value: Values[Name]; onChange: (value: unknown) => void; error?: string };
  /** For Switch and Checkbox. */
  check: (name: keyof Values & string) => { checked: boolean; onChange: (event: Box) => void; error?: string };
  /** What is wrong beside the fields, or null. */
  problem: string | null;
  errorAt: (name: string) => string | undefined;
}

interface FormOptions<Values extends object> {
  /** Where a field's problems are found when that is not its own name: `{ url: "definition.config.url" }`. */
  places?: Partial<Record<keyof Values & string, string>>;
  /** What the form calls its fields, where that is not simply their name. */
  labels?: FieldLabels;
}

/** `error` is what the request failed with. */
export function useForm<Values extends object>(
  initial: Values,
  error: unknown = null,
  { places = {}, labels = {} }: FormOptions<Values> = {},
): Form<Values> {
  const [values, setValues] = useState(initial);
  const names = Object.keys(values) as (keyof Values & string)[];
  const placeOf = (name: keyof Values & string): string => places[name] ?? name;
  const errors: Record<string, string | undefined> = fieldErrors(error, names.map(placeOf), labels);
  const set: Form<Values>["set"] = (name, value) => setValues((before) => ({ ...before, [name]: value }));
  const at = (name: keyof Values & string) => {
    const words = errors[placeOf(name)];
    return words === undefined ? {} : { error: words };
  };
  return {
    values,
    set,
    reset: (next = initial) => setValues(next),
    text: (name) => ({
      value: String(values[name] ?? ""),
      onChange: (event) => set(name, event.currentTarget.value as Values[typeof name]),
      ...at(name),
    }),
    field: (name) => ({
      value: values[name],
      onChange: (value) => set(name, value as Values[typeof name]),
      ...at(name),
    }),
    check: (name) => ({
      checked: Boolean(values[name]),
      onChange: (event) => set(name, event.currentTarget.checked as Values[typeof name]),
      ...at(name),
    }),
    problem: formError(error, names.map(placeOf), labels),
    errorAt: (name) => errors[name],
  };
}
