"""Verifies Vobiz's signatures. The newest pair covers time and body; versions 3 and 2 cover the URL without its query
and a nonce, and neither body nor time.

A captured pair of the old versions would sign any body. Three rules compensate: the nonce counts once, the URLs of runs
carry our secret, and the pair that covers the body decides wherever it is sent.
"""

import re
from typing import Final
from urllib.parse import urlsplit

from offhook.telephony.carrier_kit.http import get_setting
from offhook.telephony.carrier_kit.signatures import hmac_base64, hmac_hex, is_fresh, matches_any
from offhook.telephony.ports import CarrierAccount, CarrierWebhook, WebhookProof

_SCHEMES = (("v3", "."), ("v2", ""))
# URLs that belong to one run and so carry its secret.
_OF_A_RUN: Final = re.compile(r"/((hangup|ring)-callback|answer/[a-z]+|resume/[a-z]+/[0-9]+)/[0-9]+/?$")


class VobizVerifier:
    """Verifies Vobiz requests. The MA headers are the parent account's signature over the same nonce. A sub-account's
    callbacks carry them too, so they do not prove that a callback is for the platform's account."""

    def verify(self, account: CarrierAccount, webhook: CarrierWebhook, now_s: float) -> WebhookProof | None:
        token = get_setting(account, "auth_token")
        if token is None:
            return None
        timestamp = webhook.headers.get("x-vobiz-timestamp")
        if timestamp is not None:
            expected = hmac_hex(token, f"{timestamp}.".encode() + webhook.body)
            is_signed = matches_any([expected], [webhook.headers.get("x-vobiz-signature", "")])
            return WebhookProof() if is_signed and is_fresh(timestamp, now_s) else None
        if _OF_A_RUN.search(urlsplit(webhook.url).path) and not webhook.has_secret:
            return None
        owners = ("",) if account.is_managed else ("", "ma-")
        for scheme, dot in _SCHEMES:
            nonce = webhook.headers.get(f"x-vobiz-signature-{scheme}-nonce", "")
            claimed = [
                signature.strip()
                for owner in owners
                for signature in webhook.headers.get(f"x-vobiz-signature-{owner}{scheme}", "").split(",")
                if signature.strip()
            ]
            if nonce and claimed:
                expected = hmac_base64(token, f"{base_url(webhook.url)}{dot}{nonce}")
                return WebhookProof(nonce) if matches_any([expected], claimed) else None
        return None


def base_url(url: str) -> str:
    """Returns the URL without query and fragment."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
