"""The caller's side: voice activity, recognition, endpointing, DTMF."""
