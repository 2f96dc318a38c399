"""Scenarios played as whole calls on virtual time: the caller's voice on a line, the real voice session, a recording."""
