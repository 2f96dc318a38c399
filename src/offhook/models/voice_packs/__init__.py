"""Packs of a recognizer and a voice for this machine: fetched by the operator, checked by hash, used without a network."""
