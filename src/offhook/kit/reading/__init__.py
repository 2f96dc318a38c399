"""Converts user files to plain-text chunks. Everything but ``kinds`` runs in a limited process (``program``)."""
