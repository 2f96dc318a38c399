/** Links to a run's recording and transcript that open without an account, for a day. */

import { Button, CopyButton, Menu, Text } from "@mantine/core";
import { Share2 } from "lucide-react";
import { done } from "../../lib/notice";
import type { RunDetail } from "../../lib/types";

export function Share({ run }: { run: RunDetail }) {
  const links = [
    { name: "recording", url: run.recording_url },
    { name: "transcript", url: run.transcript_url },
  ].filter((link): link is { name: string; url: string } => link.url !== null);
  if (links.length === 0) return null;
  return (
    <Menu position="bottom-end" width={300} withinPortal>
      <Menu.Target>
        <Button variant="default" leftSection={<Share2 size={16} />}>
          Share
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {links.map((link) => (
          <CopyButton key={link.name} value={link.url}>
            {({ copy }) => (
              <Menu.Item
                onClick={() => {
                  copy();
                  done(`The link to the ${link.name} is copied.`);
                }}
              >
                Copy a link to the {link.name}
              </Menu.Item>
            )}
          </CopyButton>
        ))}
        <Menu.Divider />
        <Text fz="xs" c="dimmed" px="sm" py={6}>
          Whoever has a link can open it for a day, without signing in.
        </Text>
      </Menu.Dropdown>
    </Menu>
  );
}
