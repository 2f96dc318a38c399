"""Scenarios that are proposed from an agent's graph."""
