"""Workflows generated from a description."""
