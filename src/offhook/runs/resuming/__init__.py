"""States of live calls, from which another process goes on when the line to the caller breaks."""
