"""The media path of a call: admission by token, the session, and its supervision."""
