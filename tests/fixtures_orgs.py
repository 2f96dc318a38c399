"""Fixtures of the organisations domain, loaded for every test by ``conftest.py``."""
