"""The voice runtime: sessions, turn rules, playback, watchdog. No web, no database."""
