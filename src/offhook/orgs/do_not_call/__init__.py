"""The do-not-call list."""
