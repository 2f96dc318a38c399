"""The Twilio dialect, which Cloudonix speaks too: its XML and its media stream. The two carriers' REST interfaces,
webhooks and proofs have nothing in common."""
