"""The end of a run: its result, costs, reviews and webhooks."""
