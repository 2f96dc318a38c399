"""Canaries: a new version takes a share of calls, and is rolled back or forward by how they go."""
