/** The kinds of settings that a call has: choices, switches, seconds. */

import type { PropertySpec } from "../../../graph/specs";

export interface SettingSpec extends PropertySpec {
  /** Of its number. */
  unit?: string;
}

export interface SettingsGroup {
  title: string;
  properties: SettingSpec[];
}

type More = Partial<PropertySpec>;

export const setting = (
  name: string,
  type: PropertySpec["type"],
  display_name: string,
  description: string,
  more: More = {},
): PropertySpec => ({ name, type, display_name, description, required: false, ...more });
export const seconds = (
  name: string,
  title: string,
  description: string,
  standard: number,
  min: number,
  max: number,
  isWhole = false,
  more: More = {},
): SettingSpec => ({
  ...setting(name, "number", title, `${description} ${min} to ${max} seconds.`, {
    default: standard,
    min_value: min,
    max_value: max,
    extra: { fractional: !isWhole },
    ...more,
  }),
  unit: "s",
});
export const choices = (...pairs: [string, string][]) => pairs.map(([value, label]) => ({ value, label }));
export const when = (name: string, ...values: unknown[]) => ({ display_options: { show: { [name]: values } } });
