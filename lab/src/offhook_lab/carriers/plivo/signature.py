"""Plivo's signatures of webhooks: HMAC-SHA256 over URL, parameters and a nonce (V3), or URL and nonce (V2)."""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlsplit

Pairs = Sequence[tuple[str, str]]


def _hmac_base64(token: str, text: str) -> str:
    return base64.b64encode(hmac.new(token.encode(), text.encode(), hashlib.sha256).digest()).decode()


def _split_url(url: str) -> tuple[str, Pairs]:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}", parse_qsl(parts.query, keep_blank_values=True)


def sign_v2(token: str, url: str, nonce: str) -> str:
    """Signs the URL without its query, and the nonce."""
    return _hmac_base64(token, _split_url(url)[0] + nonce)


def sign_v3(token: str, method: str, url: str, nonce: str, form: Pairs = ()) -> str:
    """Signs a request. ``form``: a POST's raw fields; a GET's are in the URL."""
    base, query = _split_url(url)
    pairs = "&".join(f"{name}={value}" for name, value in sorted(query))
    if method.upper() == "GET":
        text = f"{base}?{pairs}" if pairs else base
        return _hmac_base64(token, f"{text}.{nonce}")
    fields = "".join(name + value for name, value in sorted(form))
    if fields:
        text = f"{base}?{pairs}.{fields}" if pairs else f"{base}?{fields}"
    else:
        text = f"{base}?{pairs}" if pairs else base
    return _hmac_base64(token, f"{text}.{nonce}")
