"""What all speech vendors share: sockets that stay warm, time-outs, replay after a lost line, errors with stable codes.

A vendor's own folder (``models/providers/<vendor>``) holds its wire format and nothing else.
"""
