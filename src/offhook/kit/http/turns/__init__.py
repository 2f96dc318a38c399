"""Requests take turns in the event loop, and leave it to calls that speak."""
