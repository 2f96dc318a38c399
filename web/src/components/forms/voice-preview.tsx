/** A button in a voice's field that lets one hear it. */

import { ActionIcon, Loader, Tooltip } from "@mantine/core";
import { Square, Volume2 } from "lucide-react";
import { usePreview } from "../../lib/audio/use-preview";
import type { Schema } from "../../lib/api/types";

interface VoicePreviewProps {
  /** As it would be saved; null while there is nothing to hear. */
  voice: Schema<"TtsService"> | null;
}

export function VoicePreview({ voice }: VoicePreviewProps) {
  const { state, play, stop } = usePreview();
  const name = state === "idle" ? "Preview this voice" : "Stop";
  return (
    <Tooltip label={name} openDelay={400}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={name}
        disabled={voice === null}
        onClick={() => (state === "idle" && voice !== null ? void play(voice) : stop())}
      >
        {state === "loading" ? (
          <Loader size={14} color="gray" />
        ) : state === "playing" ? (
          <Square size={14} />
        ) : (
          <Volume2 size={16} />
        )}
      </ActionIcon>
    </Tooltip>
  );
}
