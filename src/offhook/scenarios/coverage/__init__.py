"""Which nodes and edges of an agent its scenarios took, and which its calls."""
