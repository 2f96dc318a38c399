/** A recording: its strip over the full width, to be listened to from any point. */

import { ActionIcon, Group, SegmentedControl, Skeleton, Text } from "@mantine/core";
import { Pause, Play } from "lucide-react";
import { type ReactNode, useState } from "react";
import { CallStrip } from "../strip/call-strip";
import type { Strip } from "../strip/strip-shapes";
import { formatClock, humanize } from "../../../lib/format/format";
import type { PartyName } from "../../../lib/runs/run-labels";
import classes from "./player.module.css";
import type { Player } from "./use-player";

interface PlayerBarProps {
  player: Player;
  address: string;
  strip: Strip | undefined;
  /** The strip could not be had; the recording can be heard all the same. */
  hasFailed: boolean;
  download: ReactNode;
  /** Who talks with the agent. */
  party?: PartyName;
}

export function PlayerBar({ player, address, strip, hasFailed, download, party = "caller" }: PlayerBarProps) {
  const [pace, setPace] = useState("1");
  const run = (value: string) => {
    setPace(value);
    if (player.audio.current) player.audio.current.playbackRate = Number(value);
  };
  const total = Math.max(player.total, strip?.seconds ?? 0);
  return (
    <div className={classes.player}>
      <audio ref={player.audio} preload="metadata" src={address} aria-label={`Recording: ${party} left, agent right`}>
        <track kind="captions" />
      </audio>
      {strip !== undefined && (
        <CallStrip strip={strip} seconds={player.seconds} total={total} onSeek={player.seek} onToggle={player.toggle} />
      )}
      {strip === undefined && !hasFailed && <Skeleton h={156} radius="md" aria-hidden="true" />}
      <Group justify="space-between" gap="sm">
        <Group gap="sm">
          <ActionIcon
            size={36}
            radius="xl"
            variant="filled"
            onClick={player.toggle}
            aria-label={player.isPlaying ? "Pause" : "Play"}
          >
            {player.isPlaying ? <Pause size={17} /> : <Play size={17} />}
          </ActionIcon>
          <Text fz="sm" className={classes.time}>
            {formatClock(player.seconds * 1000)} <span>/ {formatClock(total * 1000)}</span>
          </Text>
        </Group>
        <ul className={classes.sides} aria-label="Sides of the call">
          <li data-side="caller">{humanize(party)}</li>
          <li data-side="agent">Agent</li>
        </ul>
        {download}
        <SegmentedControl
          size="xs"
          aria-label="Playback speed"
          value={pace}
          onChange={run}
          data={[
            { value: "1", label: "1×" },
            { value: "1.5", label: "1.5×" },
            { value: "2", label: "2×" },
          ]}
        />
      </Group>
      {hasFailed && (
        <Text fz="xs" c="dimmed">
          The waveform could not be loaded. The recording still plays.
        </Text>
      )}
    </div>
  );
}
