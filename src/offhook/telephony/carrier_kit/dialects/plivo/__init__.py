"""The Plivo dialect, which Vobiz speaks too: its XML, its webhook fields and its media stream. Where the two differ
(signatures, authentication, numbers), each carrier has its own code."""
