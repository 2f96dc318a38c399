"""Code shared by all speech vendors: warm sockets, timeouts, replay after a lost connection, stable error codes.

A vendor's own folder (``models/providers/<vendor>``) holds only its wire format.
"""
