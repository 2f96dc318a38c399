"""Verifies Vonage's signatures: a JWT signed with the account's signature secret, which contains the payload's hash.

The URL is not covered: the URLs of runs carry our secret. Vonage sets no time limit, so we check the time of issue, and
its ``jti`` counts once.
"""

import hmac
import json
from typing import Any, Final

import jwt

from offhook.telephony.carrier_kit.forms import query_pairs
from offhook.telephony.carrier_kit.http import get_setting
from offhook.telephony.carrier_kit.signatures import TOLERANCE_S, sha256_hex
from offhook.telephony.ports import CarrierAccount, CarrierWebhook, WebhookProof, WebhookUnreadable

ISSUER: Final = "Vonage"
# Times are compared with the platform's clock.
_OPTIONS: Final = {
    "verify_signature": True,
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
    "verify_aud": False,
}


class VonageVerifier:
    def verify(self, account: CarrierAccount, webhook: CarrierWebhook, now_s: float) -> WebhookProof | None:
        secret = get_setting(account, "signature_secret")
        token = token_of(webhook)
        claims = signed_claims(token, secret) if secret is not None and token is not None else None
        if claims is None or claims.get("iss") != ISSUER or not _is_in_time(claims, now_s):
            return None
        if claims.get("api_key") != get_setting(account, "api_key") or not _covers_payload(claims, webhook):
            return None
        if claims.get("application_id") not in (None, get_setting(account, "application_id")):
            return None
        jti = claims.get("jti")
        return WebhookProof(jti if isinstance(jti, str) and jti else token)


def token_of(webhook: CarrierWebhook) -> str | None:
    scheme, _, token = webhook.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def signed_claims(token: str, secret: str) -> dict[str, Any] | None:
    """Returns the claims if the secret signed them with HS256, and with nothing else."""
    try:
        return jwt.decode(token, secret, algorithms=["HS256"], options=_OPTIONS)  # type: ignore[arg-type]
    except jwt.PyJWTError:
        return None


def unproven_claims(token: str) -> dict[str, Any]:
    """Returns a token's unverified claims, used only to find the account whose secret verifies it."""
    try:
        return jwt.decode(token, options={"verify_signature": False})
    except jwt.PyJWTError:
        return {}


def _is_in_time(claims: dict[str, Any], now_s: float) -> bool:
    issued, expires = claims.get("iat"), claims.get("exp")
    if not isinstance(issued, int | float) or abs(now_s - issued) > TOLERANCE_S:
        return False
    return expires is None or (isinstance(expires, int | float) and now_s <= expires + TOLERANCE_S)


def _covers_payload(claims: dict[str, Any], webhook: CarrierWebhook) -> bool:
    """Compares the hash with the raw body; for a GET, with the query as a JSON object in its original order, without
    spaces."""
    claimed, payload = claims.get("payload_hash"), webhook.body
    if webhook.method.upper() == "GET":
        try:
            pairs = query_pairs(webhook.url)
        except WebhookUnreadable:
            return False
        payload = json.dumps(dict(pairs), separators=(",", ":"), ensure_ascii=False).encode() if pairs else b""
    if not payload and claimed is None:
        return True
    return isinstance(claimed, str) and hmac.compare_digest(sha256_hex(payload), claimed.lower())
