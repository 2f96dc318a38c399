"""One-time codes of authenticator apps (RFC 6238), and recovery codes for people who lost theirs."""

import base64
import hmac
import os
import secrets
from datetime import datetime
from typing import Final

import segno
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

# What every authenticator app can do; some ignore other values.
STEP_S: Final = 30
DIGITS: Final = 6
# A clock of the person that is wrong by half a minute, or a code that was typed in slowly.
MAX_DRIFT_STEPS: Final = 1
_SECRET_BYTES: Final = 20
# Without the digits that look like letters; 16 of these hold 80 random bits.
_RECOVERY_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz234567"
_RECOVERY_CHARS: Final = 16


def new_code_secret() -> bytes:
    """Returns the 160 random bits that an authenticator app and the server share."""
    return os.urandom(_SECRET_BYTES)


def code_at(secret: bytes, step: int) -> str:
    """Returns the six digits of a time step, which is the number of half minutes since 1970."""
    return _totp(secret).generate(step * STEP_S).decode()


def find_step(secret: bytes, code: str, now: datetime) -> int | None:
    """Returns the time step of a code that is valid now, a step earlier or a step later; None for a wrong code."""
    current = int(now.timestamp()) // STEP_S
    found = None
    for step in range(current - MAX_DRIFT_STEPS, current + MAX_DRIFT_STEPS + 1):
        if hmac.compare_digest(code_at(secret, step).encode(), code.encode("utf-8", "surrogatepass")):
            found = step
    return found


def enrollment_uri(secret: bytes, account: str, issuer: str) -> str:
    """Returns the ``otpauth://`` address that authenticator apps read from a QR code."""
    return _totp(secret).get_provisioning_uri(account, issuer)


def secret_text(secret: bytes) -> str:
    """Returns the secret as people type it in who cannot scan: base32."""
    return base64.b32encode(secret).decode().rstrip("=")


def qr_code(text: str) -> str:
    """Returns a QR code as an SVG image in a ``data:`` address, black on white in every color scheme."""
    return segno.make(text, error="m", micro=False).svg_data_uri(scale=4, border=4, dark="#000", light="#fff")


def new_recovery_code() -> str:
    """Returns a code such as ``k3f9-x2bd-7mqa-rt4e``."""
    letters = "".join(secrets.choice(_RECOVERY_ALPHABET) for _ in range(_RECOVERY_CHARS))
    return "-".join(letters[at : at + 4] for at in range(0, _RECOVERY_CHARS, 4))


def normalize_code(text: str) -> str:
    """Returns a code as it was given out but for blanks, dashes and capitals, which people add."""
    return "".join(text.split()).replace("-", "").lower()


def is_app_code(normalized: str) -> bool:
    """Returns whether this may be a code of an authenticator app, and not a recovery code."""
    return len(normalized) == DIGITS and normalized.isascii() and normalized.isdigit()


def _totp(secret: bytes) -> TOTP:
    return TOTP(secret, DIGITS, SHA1(), STEP_S)  # noqa: S303 - RFC 6238's default, which the apps have
