"""Agents to start from: a catalog of templates with documents and test scenarios."""
