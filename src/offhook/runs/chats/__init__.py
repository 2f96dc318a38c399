"""Storage of text chats."""
