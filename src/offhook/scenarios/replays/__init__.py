"""Calls that are played again from their journals, with their own version or another one, and compared."""
