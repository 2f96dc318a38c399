"""Folders in which an organization files its workflows."""
