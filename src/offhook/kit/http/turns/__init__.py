"""Requests take turns in the event loop, leave it to calls that speak, and end when their client is gone."""
