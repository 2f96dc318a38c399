"""What a caller's words do in a conversation: agree, decline, leave, ask, put off, want a person."""
