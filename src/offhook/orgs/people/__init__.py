"""Members, invitations and personal accounts."""
