/** Ctrl K: every place and every command of the page, by its name. */

import { Combobox, Kbd, Modal, Text, TextInput, useCombobox } from "@mantine/core";
import { Search } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { useOfferedCommands } from "../../lib/commands/commands";
import { matchCommands } from "../../lib/commands/match-commands";
import classes from "./command-palette.module.css";
import { usePlaceCommands } from "./use-place-commands";

export function CommandPalette({ onClose }: { onClose: () => void }) {
  const offered = useOfferedCommands();
  const places = usePlaceCommands();
  const [query, setQuery] = useState("");
  // Enter chooses only in an open list. Escape closes the list first, and with it the palette.
  const combobox = useCombobox({ opened: true, onDropdownClose: onClose });
  const commands = useMemo(() => matchCommands([...offered, ...places], query), [offered, places, query]);
  const groups = [...new Set(commands.map(({ group }) => group))];
  useEffect(() => {
    combobox.selectFirstOption();
    // The library's functions are new ones at each rendering.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [commands]);
  const run = (id: string) => {
    onClose();
    commands.find((command) => command.id === id)?.run();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      size="lg"
      padding={0}
      yOffset="12vh"
      attributes={{ content: { "aria-label": "Commands" } }}
    >
      <Combobox store={combobox} onOptionSubmit={run}>
        <Combobox.EventsTarget>
          <TextInput
            variant="unstyled"
            size="md"
            className={classes.search}
            aria-label="Search pages, agents and commands"
            placeholder="Search pages, agents and commands"
            leftSection={<Search size={17} aria-hidden="true" />}
            data-autofocus
            value={query}
            onChange={(event) => setQuery(event.currentTarget.value)}
          />
        </Combobox.EventsTarget>
        <Combobox.Options className={classes.options} aria-label="Commands" tabIndex={0}>
          {groups.map((group) => (
            <Combobox.Group key={group} label={group}>
              {commands
                .filter((command) => command.group === group)
                .map((command) => (
                  <Combobox.Option key={command.id} value={command.id} className={classes.option}>
                    <span>{command.title}</span>
                    {command.keys !== undefined && <Kbd size="xs">{command.keys}</Kbd>}
                  </Combobox.Option>
                ))}
            </Combobox.Group>
          ))}
        </Combobox.Options>
        {commands.length === 0 && (
          <Text fz="sm" c="dimmed" p="lg" ta="center" role="status">
            No matching commands
          </Text>
        )}
      </Combobox>
    </Modal>
  );
}
