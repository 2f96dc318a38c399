/** Links to a run: its page, for colleagues; its recording and transcript, for anyone with the link. */

import { Button, Menu, Text } from "@mantine/core";
import { Share2 } from "lucide-react";
import { copyToClipboard } from "../../../lib/ui/clipboard";
import { formatClock } from "../../../lib/format/format";
import type { RunDetail } from "../../../lib/api/types";
import { placeIn } from "../player/place";

/** `seconds`: where the recording is just now. */
export function Share({ run, seconds }: { run: RunDetail; seconds: number }) {
  const page = `${window.location.origin}/agents/${run.workflow_id}/runs/${run.id}`;
  const open = [
    { name: "recording", url: run.recording_url },
    { name: "transcript", url: run.transcript_url },
  ].filter((link): link is { name: string; url: string } => link.url !== null);
  const item = (what: string, url: string) => (
    <Menu.Item key={what} onClick={() => void copyToClipboard(url, `Link to ${what}`)}>
      Copy a link to {what}
    </Menu.Item>
  );
  return (
    <Menu position="bottom-end" width={300} withinPortal>
      <Menu.Target>
        <Button variant="default" leftSection={<Share2 size={16} />}>
          Share
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {item("this page", page)}
        {seconds >= 1 && item(`this page, from ${formatClock(seconds * 1000)}`, page + placeIn(seconds))}
        <About>For signed-in members of your organization. Does not expire.</About>
        {open.length > 0 && (
          <>
            <Menu.Divider />
            {open.map((link) => item(`the ${link.name}`, link.url))}
            <About>Anyone with the link can view it for 24 hours without signing in.</About>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function About({ children }: { children: string }) {
  return (
    <Text fz="xs" c="dimmed" px="sm" py={6}>
      {children}
    </Text>
  );
}
