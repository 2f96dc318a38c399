"""The files of recordings, plain or encrypted."""
