"""Does nothing: run in the sandbox, it shows what the sandbox lacks."""
