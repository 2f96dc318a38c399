"""The scenarios that an agent keeps: read, written and made from calls over HTTP."""
