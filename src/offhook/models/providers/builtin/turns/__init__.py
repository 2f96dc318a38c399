"""One turn of the offline agent, layer by layer: what it sees, its tools, values, wishes, guards and decision."""
