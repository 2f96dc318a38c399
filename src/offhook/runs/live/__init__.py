"""Live calls of one process: leases, tools, recording, events and the sweeper."""
