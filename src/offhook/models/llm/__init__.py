"""What all LLM vendors share: errors and streams."""
