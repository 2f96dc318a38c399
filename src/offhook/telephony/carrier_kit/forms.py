"""Reading carriers' webhooks: forms, queries and JSON, and telephone numbers as each carrier writes them."""

import json
import re
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from offhook.telephony.ports import CarrierWebhook, WebhookUnreadable

MAX_FIELDS: Final = 500
_DIGITS: Final = re.compile(r"\+?[0-9]{8,15}")
_SEPARATORS: Final = re.compile(r"[\s().-]")
# What carriers send for a caller who withholds the number.
_WITHHELD: Final = frozenset(
    {"", "anonymous", "unknown", "restricted", "private", "unavailable", "blocked", "withheld", "+266696687"}
)

Pairs = list[tuple[str, str]]


def media_type(webhook: CarrierWebhook) -> str:
    return webhook.headers.get("content-type", "").partition(";")[0].strip().lower()


def query_pairs(url: str) -> Pairs:
    """The decoded parameters of a URL, in order. WebhookUnreadable."""
    return _parse_pairs(urlsplit(url).query)


def form_pairs(webhook: CarrierWebhook) -> Pairs:
    """The decoded fields of a form in the body. WebhookUnreadable."""
    try:
        text = webhook.body.decode("ascii")
    except UnicodeDecodeError:
        raise WebhookUnreadable("The body is not a form.") from None
    return _parse_pairs(text)


def _parse_pairs(text: str) -> Pairs:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise WebhookUnreadable("The body is not a form.") from None


def json_object(webhook: CarrierWebhook) -> dict[str, Any]:
    """WebhookUnreadable when the body is no JSON object."""
    try:
        found = json.loads(webhook.body)
    except (ValueError, RecursionError):
        raise WebhookUnreadable("The body is not JSON.") from None
    if not isinstance(found, dict):
        raise WebhookUnreadable("The body is not a JSON object.")
    return found


def form_fields(webhook: CarrierWebhook) -> dict[str, str]:
    """The fields of a form (POST) or of the query (GET); of a repeated name the first. Ours in the query of a POST are
    left out: they are not the carrier's. WebhookUnreadable."""
    pairs = query_pairs(webhook.url) if webhook.method.upper() == "GET" else form_pairs(webhook)
    found: dict[str, str] = {}
    for name, value in pairs:
        found.setdefault(name, value)
    return found


def any_fields(webhook: CarrierWebhook) -> dict[str, Any]:
    """A JSON object, a form or a query, by the request's own word. WebhookUnreadable."""
    if webhook.method.upper() != "GET" and (media_type(webhook) == "application/json" or webhook.body[:1] in b"{["):
        return json_object(webhook)
    return dict(form_fields(webhook))


def parse_e164(text: object) -> str | None:
    """``+`` and digits of a number as carriers write it (with or without the plus, with separators); national numbers
    (with a leading zero) and other addresses (SIP) as they are; None for nothing and for withheld numbers."""
    if isinstance(text, int):
        text = str(text)
    if not isinstance(text, str) or text.strip().lower() in _WITHHELD:
        return None
    plain = _SEPARATORS.sub("", text)
    if plain.startswith("00"):
        plain = plain.removeprefix("00")
    if plain.startswith("0"):
        return plain
    return f"+{plain.removeprefix('+')}" if _DIGITS.fullmatch(plain) else text.strip()


def strip_plus(number: str) -> str:
    """The number without its plus, as some carriers want it."""
    return number.removeprefix("+")
