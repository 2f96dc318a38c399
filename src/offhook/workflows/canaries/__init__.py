"""Canaries: a version that takes a share of an agent's calls before it is the published one."""
