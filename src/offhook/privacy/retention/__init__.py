"""How long calls, contacts and audit entries are kept: the sweep, and what agents say."""
