"""Saved views of the list of runs."""
