"""Scenarios played by text on virtual time, with the real interpreter: no network, no database, no waiting."""
