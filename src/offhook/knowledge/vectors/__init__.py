"""Vector spaces: one for each embedding model, and migration between them."""
