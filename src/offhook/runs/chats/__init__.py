"""The stored side of text chats."""
