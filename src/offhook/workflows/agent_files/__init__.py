"""Agents as files: written without secrets, read with everything found again by name."""
