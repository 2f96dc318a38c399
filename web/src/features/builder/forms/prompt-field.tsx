/** A text with variables: what can be filled in is offered while it is written. */

import { ActionIcon, Menu, Textarea } from "@mantine/core";
import { Braces } from "lucide-react";
import { useRef } from "react";
import { text } from "../../../graph/definition";
import { knownVariables } from "../../../graph/variables";
import { useEditorContext } from "../state/editor";
import type { InnerProps } from "./fields";
import classes from "./form.module.css";

export function PromptField({ property, value, onChange, common }: InnerProps) {
  const { document } = useEditorContext();
  const area = useRef<HTMLTextAreaElement>(null);
  const insert = (name: string) => {
    const element = area.current;
    const content = text(value);
    const from = element?.selectionStart ?? content.length;
    const until = element?.selectionEnd ?? content.length;
    onChange(`${content.slice(0, from)}{{ ${name} }}${content.slice(until)}`);
    element?.focus();
  };
  return (
    <div className={classes.prompt}>
      <Textarea
        {...common}
        ref={area}
        value={text(value)}
        placeholder={property.placeholder ?? undefined}
        autosize
        minRows={property.name === "prompt" ? 5 : 2}
        maxRows={16}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {!common.disabled && (
        <Menu position="bottom-end" withinPortal>
          <Menu.Target>
            <ActionIcon
              className={classes.insert}
              variant="subtle"
              color="gray"
              size="sm"
              aria-label={`Insert a variable into ${common.label}`}
            >
              <Braces size={14} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown mah={300} style={{ overflowY: "auto" }}>
            <Menu.Label>Insert a variable</Menu.Label>
            {knownVariables(document.definition, document.variables).map((name) => (
              <Menu.Item key={name} ff="monospace" fz="xs" onClick={() => insert(name)}>
                {name}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </div>
  );
}
