"""Safeguards against calls that go silent, go wrong or never end."""
