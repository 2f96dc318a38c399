"""Signing in with an organization's own identity provider (OpenID Connect)."""
