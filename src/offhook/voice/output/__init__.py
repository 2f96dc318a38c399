"""The agent's side: sentences, synthesis, playback and pacing."""
