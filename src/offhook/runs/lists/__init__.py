"""Lists, counts, usage and insights over many runs."""
