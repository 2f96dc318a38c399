"""Verifies Telnyx's signatures: Ed25519 over the time and the raw body. The URL is not covered: it carries the run's
secret."""

import base64
import binascii
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from offhook.telephony.carrier_kit.http import get_setting
from offhook.telephony.carrier_kit.signatures import is_fresh
from offhook.telephony.ports import CarrierAccount, CarrierWebhook, WebhookProof

_KEY_BYTES: Final = 32
_SIGNATURE_BYTES: Final = 64


class TelnyxVerifier:
    def verify(self, account: CarrierAccount, webhook: CarrierWebhook, now_s: float) -> WebhookProof | None:
        timestamp = webhook.headers.get("telnyx-timestamp", "")
        key = _decode_exact(get_setting(account, "webhook_public_key") or "", _KEY_BYTES)
        signature = _decode_exact(webhook.headers.get("telnyx-signature-ed25519", ""), _SIGNATURE_BYTES)
        if key is None or signature is None or not is_fresh(timestamp, now_s):
            return None
        return WebhookProof() if is_signed(key, signature, f"{timestamp}|".encode() + webhook.body) else None


def is_signed(public_key: bytes, signature: bytes, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _decode_exact(text: str, length: int) -> bytes | None:
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return found if len(found) == length else None
