"""Where an organization's calls may go, and who may call it."""
