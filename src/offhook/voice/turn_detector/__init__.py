"""Judges by the sound whether a caller has finished, with an optional model from a file."""
