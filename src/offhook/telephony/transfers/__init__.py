"""Cold and warm transfers through every carrier."""
