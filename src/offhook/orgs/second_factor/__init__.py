"""Two-step sign-in: codes of an authenticator app, recovery codes, and organizations that demand them."""
