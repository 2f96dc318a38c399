"""Vonage's two JSON web tokens: RS256 for an application's requests, HS256 for callbacks."""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256


def _encode_part(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _decode_part(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def claims_of(token: str, key: RSAPublicKey) -> dict[str, Any] | None:
    """Returns the claims of a token that this key signed with RS256; None for any other."""
    try:
        head, body, signed = token.split(".")
        if json.loads(_decode_part(head)).get("alg") != "RS256":
            return None
        key.verify(_decode_part(signed), f"{head}.{body}".encode(), padding.PKCS1v15(), SHA256())
        claims = json.loads(_decode_part(body))
    except (ValueError, AttributeError, InvalidSignature, binascii.Error):
        return None
    return claims if isinstance(claims, dict) else None


def sign_hs256(claims: Mapping[str, Any], secret: str) -> str:
    head = _encode_part(json.dumps({"typ": "JWT", "alg": "HS256"}).encode())
    body = _encode_part(json.dumps(dict(claims)).encode())
    return (
        f"{head}.{body}.{_encode_part(hmac.new(secret.encode(), f'{head}.{body}'.encode(), hashlib.sha256).digest())}"
    )
