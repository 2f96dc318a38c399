"""An organization's name, preferences and limits."""
