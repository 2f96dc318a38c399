"""Carrier webhooks: verification, inbound calls, status callbacks and rejected calls."""
