/** The agent's name and state, how far it is saved, and the button that makes the draft answer calls. */

import { Badge, Group, Text, TextInput, Title, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { ChevronLeft, Pencil } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { messageOf } from "../../../lib/api/errors";
import { useRename } from "../api";
import { useEditorContext } from "../state/editor";
import classes from "./header.module.css";
import { PublishButton } from "./publish-button";
import { SaveState } from "./save-state";

export function Header({ children }: { children?: ReactNode }) {
  const { agent, canEdit } = useEditorContext();
  return (
    <header className={classes.header}>
      <Link to="/" className={classes.back} aria-label="All agents">
        <ChevronLeft size={18} />
      </Link>
      <Name key={agent.name} />
      <Badges />
      <div className={classes.middle}>{children}</div>
      <Group gap={12} wrap="nowrap">
        {canEdit ? (
          <>
            <SaveState />
            <PublishButton />
          </>
        ) : (
          <Text fz="sm" c="dimmed">
            Read-only
          </Text>
        )}
      </Group>
    </header>
  );
}

function Name() {
  const { agent, canEdit } = useEditorContext();
  const rename = useRename(agent.id);
  const [draft, setDraft] = useState<string | null>(null);
  const title = (
    <Title order={1} className={classes.name}>
      {agent.name}
    </Title>
  );
  if (!canEdit) return title;
  if (draft === null) {
    return (
      <Group gap={2} wrap="nowrap" miw={0}>
        {title}
        <UnstyledButton className={classes.rename} aria-label="Rename" onClick={() => setDraft(agent.name)}>
          <Pencil size={14} />
        </UnstyledButton>
      </Group>
    );
  }
  const store = () => {
    const name = draft.trim();
    if (name === agent.name) setDraft(null);
    else rename.mutate(name, { onSuccess: () => setDraft(null) });
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") store();
    if (event.key === "Escape") {
      rename.reset();
      setDraft(null);
    }
  };
  return (
    <TextInput
      aria-label="Agent name"
      size="sm"
      w={260}
      maxLength={200}
      autoFocus
      value={draft}
      error={rename.isError ? messageOf(rename.error) : undefined}
      onChange={(event) => setDraft(event.currentTarget.value)}
      onBlur={store}
      onKeyDown={press}
    />
  );
}

function Badges() {
  const { agent } = useEditorContext();
  return (
    <Group gap={6} wrap="nowrap" className={classes.badges}>
      {agent.status === "archived" && (
        <Badge color="gray" variant="light" tt="none">
          Archived
        </Badge>
      )}
      {agent.published_version_number != null && (
        <Badge variant="light" tt="none">
          Published v{agent.published_version_number}
        </Badge>
      )}
      {agent.has_draft && (
        <Badge color="orange" c="var(--draft)" variant="light" tt="none">
          Draft v{agent.version_number}
        </Badge>
      )}
    </Group>
  );
}
