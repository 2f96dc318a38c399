"""Shared code of signature schemes: HMACs, compared in constant time."""

import base64
import hashlib
import hmac
from collections.abc import Iterable
from typing import Final

# Tolerance for the offset of a carrier's clock plus the transit time of its request.
TOLERANCE_S: Final = 300.0


def hmac_base64(key: str, text: str, digest: str = "sha256") -> str:
    return base64.b64encode(hmac.digest(key.encode(), text.encode(), digest)).decode()


def hmac_hex(key: str, message: bytes) -> str:
    return hmac.digest(key.encode(), message, "sha256").hex()


def sha256_hex(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def matches_any(expected: Iterable[str], claimed: Iterable[str]) -> bool:
    """Returns True if one of the claimed signatures is an expected one, in constant time."""
    candidates = [text.encode() for text in claimed]
    found = False
    for right in expected:
        for candidate in candidates:
            found |= hmac.compare_digest(right.encode(), candidate)
    return found


def is_fresh(timestamp: str, now_s: float, tolerance_s: float = TOLERANCE_S) -> bool:
    """Returns True if a decimal Unix time is within the tolerance of now, in either direction."""
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > 12:
        return False
    return abs(now_s - int(timestamp)) <= tolerance_s
