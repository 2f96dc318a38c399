"""The keys that encrypt the files of organizations."""
