"""Speech-to-speech models in a call: the caller's audio, the conversation on both sides, sessions and failover."""
