"""What `bench.panel` is made of: seeded callers talk with an agent, and what came of it is judged from the line's audio."""
