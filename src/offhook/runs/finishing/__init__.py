"""The end of a run: storing it, costs, reviews, webhooks."""
