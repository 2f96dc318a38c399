"""Which edge an answer most probably means, where no rule decides."""
