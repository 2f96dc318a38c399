"""What a failed connection is called: people read it beside the key that they entered, and in transcripts."""

import re
from typing import Final

_ERRNO: Final = re.compile(r"^\[Errno -?\d+\] ")
# The words of systems and of resolvers for one thing: there is no address for the name.
_UNKNOWN_NAME: Final = re.compile(
    r"name or service not known|name resolution|no address associated|nodename nor servname|getaddrinfo failed",
    re.IGNORECASE,
)


def describe_connection_failure(words: str) -> str:
    reason = _ERRNO.sub("", words)
    if _UNKNOWN_NAME.search(reason):
        reason = "The host was not found. Check its name, and this server's internet connection."
    return f"The connection failed: {reason}"
