"""Finds and removes what must not be kept in texts."""
