"""Whether the calls of a new version are worse than those of the old one; pure."""
