"""Vonage's responses to refused requests."""

import secrets
from typing import Any, Final

from offhook_lab.carriers.core.rest import RestReply

_TITLES: Final = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Authorization error",
    404: "Not Found",
    422: "Bad Request",
    429: "Rate Limited",
    500: "Internal Error",
}


def problem_reply(status: int, name: str = "", reason: str = "") -> RestReply:
    """Returns a problem; ``name`` is the field that is wrong, empty for none."""
    title = _TITLES[status]
    body: dict[str, Any] = {
        "type": f"https://developer.vonage.com/api-errors#{title.lower().replace(' ', '-')}",
        "title": title,
        "detail": f"{name} {reason}".strip() or title,
        "instance": secrets.token_hex(16),
    }
    if name:
        body["invalid_parameters"] = [{"name": name, "reason": reason}]
    return RestReply(status, body, content_type="application/problem+json")
