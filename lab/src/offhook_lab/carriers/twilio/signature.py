"""Twilio's signature of webhooks: HMAC-SHA1 over the URL and the form's fields."""

import base64
import hashlib
import hmac
from collections.abc import Sequence


def compute_signature(auth_token: str, url: str, form: Sequence[tuple[str, str]] = ()) -> str:
    """Returns ``X-Twilio-Signature``. ``form`` are a POST's fields; equal values of one name count once."""
    text = url + "".join(name + value for name, value in sorted(set(form)))
    return base64.b64encode(hmac.new(auth_token.encode(), text.encode(), hashlib.sha1).digest()).decode()
