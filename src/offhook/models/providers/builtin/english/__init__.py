"""English as callers speak and authors write it, for the offline agent."""
