/** Finds a step, an edge or a note by any words in it. */

import { Combobox, TextInput, useCombobox } from "@mantine/core";
import { Search } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { search } from "../../../graph/search";
import classes from "./canvas.module.css";
import { useEditorContext } from "../state/editor";
import { SEARCH_ID } from "../state/use-shortcuts";

export function SearchBox() {
  const { document, reveal } = useEditorContext();
  const [query, setQuery] = useState("");
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const hits = useMemo(() => search(document.definition, query), [document.definition, query]);
  // Once the hits are drawn: words that were pasted lead on with Enter, too.
  const { selectFirstOption, dropdownOpened } = combobox;
  useEffect(() => {
    if (dropdownOpened) selectFirstOption();
    // The library's functions are new ones at each rendering.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [query, dropdownOpened]);
  const go = (value: string) => {
    const [kind, id] = value.split(/:(.*)/s) as [string, string];
    if (kind === "note") reveal({ nodeIds: [id], edgeIds: [] }, "form");
    else if (kind === "node") reveal({ nodeIds: [id], edgeIds: [] }, "node");
    else reveal({ nodeIds: [], edgeIds: [id] }, "form");
    combobox.closeDropdown();
    setQuery("");
  };
  return (
    <Combobox store={combobox} onOptionSubmit={go} width={320} position="bottom-start">
      <Combobox.Target>
        <TextInput
          id={SEARCH_ID}
          className={classes.search}
          size="sm"
          aria-label="Find a step"
          placeholder="Find a step"
          leftSection={<Search size={15} />}
          value={query}
          onChange={(event) => {
            setQuery(event.currentTarget.value);
            combobox.openDropdown();
          }}
          onFocus={() => query !== "" && combobox.openDropdown()}
          onBlur={() => combobox.closeDropdown()}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={query.trim() === ""}>
        <Combobox.Options mah={320} style={{ overflowY: "auto" }}>
          {hits.length === 0 && <Combobox.Empty>No matching steps</Combobox.Empty>}
          {hits.map((hit) => (
            <Combobox.Option key={`${hit.kind}:${hit.id}`} value={`${hit.kind}:${hit.id}`}>
              <b>{hit.title}</b>
              {hit.kind === "edge" && <span className={classes.hint}> transition</span>}
              {hit.excerpt !== "" && <div className={classes.hint}>{hit.excerpt}</div>}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}
