"""Answers of models in scenarios: from a vendor, or recorded and found again by their request."""
