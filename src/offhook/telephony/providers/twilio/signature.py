"""Verifies Twilio's signatures: base64 HMAC-SHA1 over the URL and the form, without a time."""

import hmac
from urllib.parse import urlsplit

from offhook.telephony.carrier_kit.forms import Pairs, form_pairs, media_type, query_pairs
from offhook.telephony.carrier_kit.http import get_setting
from offhook.telephony.carrier_kit.signatures import hmac_base64, matches_any, sha256_hex
from offhook.telephony.ports import CarrierAccount, CarrierWebhook, WebhookProof, WebhookUnreadable

_PORTS = {"https": 443, "wss": 443, "http": 80, "ws": 80}


class TwilioVerifier:
    """Verifies Twilio requests. The auth token signs, also when requests use an API key. The nonce is the signature
    itself."""

    def verify(self, account: CarrierAccount, webhook: CarrierWebhook, now_s: float) -> WebhookProof | None:
        token = get_setting(account, "auth_token")
        claimed = webhook.headers.get("x-twilio-signature", "")
        if token is None or not claimed:
            return None
        try:
            covered = _covered_pairs(webhook)
        except WebhookUnreadable:
            return None
        if covered is None:
            return None
        fields = signed_fields(covered)
        expected = [hmac_base64(token, url + fields, "sha1") for url in url_variants(webhook.url)]
        return WebhookProof(nonce=claimed) if matches_any(expected, [claimed]) else None


def _covered_pairs(webhook: CarrierWebhook) -> Pairs | None:
    """Returns the signed pairs of the body; None when nothing covers the body."""
    if webhook.method.upper() == "GET" or not webhook.body:
        return []
    hashes = [value for name, value in query_pairs(webhook.url) if name == "bodySHA256"]
    if hashes:
        is_right = len(hashes) == 1 and hmac.compare_digest(sha256_hex(webhook.body).encode(), hashes[0].encode())
        return [] if is_right else None
    return form_pairs(webhook) if media_type(webhook) in {"application/x-www-form-urlencoded", ""} else None


def signed_fields(pairs: Pairs) -> str:
    """Returns names in byte order, each with its distinct values in order."""
    return "".join(f"{name}{value}" for name, value in sorted(set(pairs)))


def url_variants(url: str) -> list[str]:
    """Returns the URL with and without a port: Twilio signs one or the other."""
    parts = urlsplit(url)
    if parts.port is None:
        other = f"{parts.netloc}:{_PORTS.get(parts.scheme, 443)}"
    else:
        user, at, address = parts.netloc.rpartition("@")
        other = f"{user}{at}{address.rpartition(':')[0]}"
    # Not rebuilt from its parts, which would lose an empty query or fragment.
    return [url, url.replace(f"//{parts.netloc}", f"//{other}", 1)]
