"""The dialect that Twilio made and Cloudonix speaks too: its XML and its media stream. Their REST interfaces, webhooks and
proofs have nothing in common."""
