"""Carrier accounts: credentials, phone numbers, number purchasing and lookup."""
