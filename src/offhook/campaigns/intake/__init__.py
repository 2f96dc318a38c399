"""Contact files, their import, campaign creation and the preflight."""
