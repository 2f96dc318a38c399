"""Which nodes, edges, conditions and tools of an agent its scenarios took, and which its calls."""
