/** Where packs come from: an address of the whole installation. */

import { Button, Group, Textarea } from "@mantine/core";
import { useState } from "react";
import { fieldErrors, formError } from "../../../../lib/api/errors";
import { notifySuccess } from "../../../../lib/ui/notifications";
import type { Packs } from "./api";
import { useSaveMirrors } from "./api";
import { parseAddresses } from "./pack-words";

const HINTS: Record<Packs["mirrors"]["source"], string> = {
  stored: "Tried in order, one address per line. Leave it empty to use OFFHOOK_VOICES_URL again.",
  environment: "Set by OFFHOOK_VOICES_URL. An address that you save here overrides it.",
  none: "An https:// address that serves voices.json and the files that it names. One per line, tried in order.",
};

export function MirrorForm({ mirrors }: { mirrors: Packs["mirrors"] }) {
  const save = useSaveMirrors();
  const [text, setText] = useState(mirrors.addresses.join("\n"));
  const isChanged = parseAddresses(text).join("\n") !== mirrors.addresses.join("\n");
  const send = () => save.mutate(parseAddresses(text), { onSuccess: () => notifySuccess("Mirror address saved.") });
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Textarea
        label="Mirror address"
        description={HINTS[mirrors.source]}
        placeholder="https://example.com/voices/english/"
        autosize
        minRows={1}
        maxRows={6}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={fieldErrors(save.error, ["addresses"])["addresses"] ?? formError(save.error, ["addresses"])}
      />
      <Group mt="sm">
        <Button type="submit" variant="default" loading={save.isPending} disabled={!isChanged}>
          Save address
        </Button>
      </Group>
    </form>
  );
}
