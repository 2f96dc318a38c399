"""Journals of calls: kept with the run, encrypted, for replays."""
