"""Placing calls, carrier status reports, lost calls and carrier charges."""
