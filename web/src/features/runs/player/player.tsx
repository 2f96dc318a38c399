/** Listening to a conversation: play, pace, place, and its two sides as waves. */

import { ActionIcon, Group, SegmentedControl, Text } from "@mantine/core";
import { Pause, Play } from "lucide-react";
import { useState } from "react";
import { formatClock } from "../../../lib/format/format";
import classes from "./player.module.css";
import type { Player } from "./use-player";
import { Waveform } from "./waveform";

export function PlayerBar({ player, address }: { player: Player; address: string }) {
  const [pace, setPace] = useState("1");
  const run = (value: string) => {
    setPace(value);
    if (player.audio.current) player.audio.current.playbackRate = Number(value);
  };
  return (
    <div className={classes.player}>
      <audio ref={player.audio} preload="metadata" src={address} aria-label="Recording: caller left, agent right">
        <track kind="captions" />
      </audio>
      <Waveform peaks={player.peaks} seconds={player.seconds} total={player.total} onSeek={player.seek} />
      <Group justify="space-between" gap="sm">
        <Group gap="sm">
          <ActionIcon
            size={42}
            radius="xl"
            variant="filled"
            onClick={player.toggle}
            aria-label={player.isPlaying ? "Pause" : "Play"}
          >
            {player.isPlaying ? <Pause size={19} /> : <Play size={19} />}
          </ActionIcon>
          <Text fz="sm" className={classes.time}>
            {formatClock(player.seconds * 1000)} <span>/ {formatClock(player.total * 1000)}</span>
          </Text>
        </Group>
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
      {player.hasFailed && (
        <Text fz="xs" c="dimmed">
          The waveform could not be drawn. Playback might still work.
        </Text>
      )}
    </div>
  );
}
