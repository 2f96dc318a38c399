"""Verifies Plivo's signatures, version 3: base64 HMAC-SHA256 over URL, query, form and a nonce; no time.

Version 2 covers neither query nor body and is rejected: a captured one would sign any content.
"""

from urllib.parse import urlsplit

from offhook.telephony.carrier_kit.forms import Pairs, form_pairs, media_type, query_pairs
from offhook.telephony.carrier_kit.http import get_setting
from offhook.telephony.carrier_kit.signatures import hmac_base64, matches_any
from offhook.telephony.ports import CarrierAccount, CarrierWebhook, WebhookProof, WebhookUnreadable

_OWN = "x-plivo-signature-v3"
_MAIN = "x-plivo-signature-ma-v3"
_NONCE = "x-plivo-signature-v3-nonce"


class PlivoVerifier:
    """Verifies Plivo requests. Traffic of a sub-account is signed with its own token and with the main account's, in two
    headers; either can hold several signatures. The platform's main account does not speak for its sub-accounts."""

    def verify(self, account: CarrierAccount, webhook: CarrierWebhook, now_s: float) -> WebhookProof | None:
        token, nonce = get_setting(account, "auth_token"), webhook.headers.get(_NONCE, "")
        claimed = [
            signature.strip()
            for name in ((_OWN,) if account.is_managed else (_OWN, _MAIN))
            for signature in webhook.headers.get(name, "").split(",")
            if signature.strip()
        ]
        if token is None or not nonce or not claimed:
            return None
        is_form = webhook.method.upper() != "GET" and media_type(webhook) in {"application/x-www-form-urlencoded", ""}
        if webhook.body and not is_form:
            return None  # the signature covers no other body
        try:
            covered = signed_text(webhook.method, webhook.url, form_pairs(webhook) if webhook.body else [], nonce)
        except WebhookUnreadable:
            return None
        return WebhookProof(nonce) if matches_any([hmac_base64(token, covered)], claimed) else None


def signed_text(method: str, url: str, params: Pairs, nonce: str) -> str:
    """Returns the signed text: decoded names and values, sorted by name and then by value. A dot joins the form to
    the query unless the query is empty; without a query its question mark stays."""
    parts = urlsplit(url)
    base, query = f"{parts.scheme}://{parts.netloc}{parts.path}", query_pairs(url)
    if method.upper() == "GET":
        own = {name for name, _ in query}
        query = query + [(name, value) for name, value in params if name not in own]
        params = []
    text = "&".join(f"{name}={value}" for name, value in sorted(query))
    if params:
        form = "".join(f"{name}{value}" for name, value in sorted(params))
        return f"{base}?{text}{'.' if text else ''}{form}.{nonce}"
    return f"{base}?{text}.{nonce}" if text else f"{base}.{nonce}"
