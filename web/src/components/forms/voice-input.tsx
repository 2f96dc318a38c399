/** A voice by its id, typed or chosen by its name. */

import { Autocomplete, type AutocompleteProps, Text } from "@mantine/core";

interface VoiceInputProps extends Omit<AutocompleteProps, "data" | "filter" | "renderOption"> {
  voices: readonly { id: string; title: string }[] | undefined;
}

export function VoiceInput({ voices = [], ...props }: VoiceInputProps) {
  // An option's label would become the value: the options are ids, and only look like names.
  const titles = new Map(voices.map((voice) => [voice.id, voice.title]));
  const titleOf = (id: string) => titles.get(id) ?? id;
  return (
    <Autocomplete
      {...props}
      data={voices.map((voice) => voice.id)}
      filter={({ options, search }) => {
        const wanted = search.trim().toLowerCase();
        return options.filter(
          (option) =>
            "value" in option &&
            (option.value.toLowerCase().includes(wanted) || titleOf(option.value).toLowerCase().includes(wanted)),
        );
      }}
      renderOption={({ option }) => (
        <div>
          <Text fz="sm">{titleOf(option.value)}</Text>
          {titleOf(option.value) !== option.value && (
            <Text fz="xs" c="dimmed">
              {option.value}
            </Text>
          )}
        </div>
      )}
    />
  );
}
