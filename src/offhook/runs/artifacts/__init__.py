"""Recordings, transcripts and event streams over HTTP."""
