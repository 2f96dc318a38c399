"""WebSockets for live audio."""
