"""The media path of a call: admission by token, the session, and what watches over it."""
