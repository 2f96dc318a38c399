"""Safeguards of a call: voicemail, models that fail, and its end."""
