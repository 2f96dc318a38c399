"""The engine under a virtual clock, against an in-memory database and a far end that witnesses everything."""
