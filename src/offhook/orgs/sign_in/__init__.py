"""Sign-in, passwords and credentials."""
