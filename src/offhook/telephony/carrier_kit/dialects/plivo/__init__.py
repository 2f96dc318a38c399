"""The dialect that Plivo made and Vobiz speaks too: its XML, its webhooks' words, its media stream. Where the two differ
(signatures, authentication, numbers), each has its own."""
