"""The campaign engine: dialing, settlement and its store."""
