"""Vector spaces: one for each embedding model, and moving from one to the next."""
