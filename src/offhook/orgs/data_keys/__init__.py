"""The keys that encrypt the files of organizations and the words of their calls."""
