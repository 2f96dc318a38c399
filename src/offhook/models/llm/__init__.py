"""Code shared by all LLM vendors: errors and streams."""
