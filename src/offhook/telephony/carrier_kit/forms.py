"""Reads carriers' webhooks: forms, queries and JSON, and phone numbers in each carrier's notation."""

import json
import re
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from offhook.telephony.ports import CarrierWebhook, WebhookUnreadable

MAX_FIELDS: Final = 500
_DIGITS: Final = re.compile(r"\+?[0-9]{8,15}")
_SEPARATORS: Final = re.compile(r"[\s().-]")
# Values that carriers send for a caller with a withheld number.
_WITHHELD: Final = frozenset(
    {"", "anonymous", "unknown", "restricted", "private", "unavailable", "blocked", "withheld", "+266696687"}
)

Pairs = list[tuple[str, str]]


def media_type(webhook: CarrierWebhook) -> str:
    return webhook.headers.get("content-type", "").partition(";")[0].strip().lower()


def query_pairs(url: str) -> Pairs:
    """Returns the decoded parameters of a URL, in order. Raises WebhookUnreadable."""
    return _parse_pairs(urlsplit(url).query)


def form_pairs(webhook: CarrierWebhook) -> Pairs:
    """Returns the decoded fields of a form in the body. Raises WebhookUnreadable."""
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
    """Returns the JSON object of the body. Raises WebhookUnreadable for anything else."""
    try:
        found = json.loads(webhook.body)
    except (ValueError, RecursionError):
        raise WebhookUnreadable("The body is not JSON.") from None
    if not isinstance(found, dict):
        raise WebhookUnreadable("The body is not a JSON object.")
    return found


def form_fields(webhook: CarrierWebhook) -> dict[str, str]:
    """Returns the fields of a form (POST) or of the query (GET), the first one of a repeated name. Our own
    parameters in the query of a POST are left out because the carrier did not set them. Raises WebhookUnreadable."""
    pairs = query_pairs(webhook.url) if webhook.method.upper() == "GET" else form_pairs(webhook)
    found: dict[str, str] = {}
    for name, value in pairs:
        found.setdefault(name, value)
    return found


def any_fields(webhook: CarrierWebhook) -> dict[str, Any]:
    """Returns the fields of a JSON object, a form or a query, as the request declares. Raises WebhookUnreadable."""
    if webhook.method.upper() != "GET" and (media_type(webhook) == "application/json" or webhook.body[:1] in b"{["):
        return json_object(webhook)
    return dict(form_fields(webhook))


def parse_e164(text: object) -> str | None:
    """Returns ``+`` and digits for a number in a carrier's notation (with or without the plus, with separators).
    National numbers (with a leading zero) and other addresses (SIP) are returned unchanged; None for empty and
    withheld numbers."""
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
    """Returns the number without its plus, as some carriers require it."""
    return number.removeprefix("+")
