"""Maps speech vendors' failures to the one error that the voice loop knows. Keys never leak."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from offhook.kit.egress.connection_words import describe_connection_failure
from offhook.kit.json_values import parse_json
from offhook.models.ports import ModelError

_MAX_MESSAGE_CHARS: Final = 300
# a code without its kind ("tts_", "stt_", "realtime_") -> is worth retrying
RETRYABLE: Final[Mapping[str, bool]] = {
    "bad_request": False,
    "unauthorized": False,
    "forbidden": False,
    "not_found": False,
    "no_quota": False,
    "refused": False,
    "rate_limited": True,
    "timeout": True,
    "connection": True,
    "cut_off": True,
    "malformed": True,
    "server_error": True,
}
_BY_STATUS: Final[Mapping[int, str]] = {
    400: "bad_request",
    401: "unauthorized",
    402: "no_quota",
    403: "forbidden",
    404: "not_found",
    408: "timeout",
    413: "bad_request",
    415: "bad_request",
    422: "bad_request",
    429: "rate_limited",
}
_MONEY_WORDS: Final = ("quota", "insufficient", "payment", "credit", "balance", "billing")
# fields for the vendor's message, best first
_TEXT_FIELDS: Final = ("message", "err_msg", "reason", "description", "detail", "error", "title")
_CODE_FIELDS: Final = ("error_code", "err_code", "code", "status", "type", "category")


class VendorErrors:
    """Makes the errors of one vendor and key. ``close_codes``: meanings of the vendor's own close codes."""

    def __init__(
        self,
        kind: Literal["tts", "stt", "realtime", "embeddings"],
        api_key: str,
        *,
        close_codes: Mapping[int, str] | None = None,
    ) -> None:
        self._kind = kind
        self._api_key = api_key
        self._close_codes = close_codes or {}

    def make_error(self, name: str, message: object, *, retry_after_s: float | None = None) -> ModelError:
        """Makes an error; ``name`` is a key of RETRYABLE."""
        text = " ".join(str(message).split())
        if len(self._api_key) >= 4:
            text = text.replace(self._api_key, "[key]")
        text = text if len(text) <= _MAX_MESSAGE_CHARS else text[: _MAX_MESSAGE_CHARS - 1] + "…"
        return ModelError(f"{self._kind}_{name}", text, retryable=RETRYABLE[name], retry_after_s=retry_after_s)

    def status_error(self, status: int, body: bytes | str, retry_after: str | None = None) -> ModelError:
        """Converts an HTTP answer to a request or a handshake."""
        word, text = parse_error_body(body)
        name = _BY_STATUS.get(status, "server_error" if status >= 500 else "refused")
        if name in ("unauthorized", "forbidden", "rate_limited") and is_about_money(f"{word} {text}"):
            name = "no_quota"
        wait = float(retry_after) if retry_after and retry_after.replace(".", "", 1).isdigit() else None
        return self.make_error(name, f"HTTP {status}: {text or word or 'no reason given'}", retry_after_s=wait)

    def closed_error(self, code: int, reason: str) -> ModelError:
        """Makes the error for a socket that closed while in use."""
        name = self._close_codes.get(code)
        if name is None:
            name = "bad_request" if code in (1003, 1007, 1008, 1009) else "cut_off"
        if name in ("bad_request", "unauthorized"):
            name = "no_quota" if is_about_money(reason) else "rate_limited" if is_about_limits(reason) else name
        return self.make_error(name, f"The vendor closed the connection ({code}): {reason or 'no reason given'}")

    def timeout_error(self, what: str, seconds: float) -> ModelError:
        return self.make_error("timeout", f"No {what} for {seconds:g} s.")

    def unreachable_error(self, error: BaseException) -> ModelError:
        return self.make_error("connection", describe_connection_failure(str(error) or type(error).__name__))

    def malformed_error(self, what: object) -> ModelError:
        return self.make_error("malformed", f"The vendor sent what is not its protocol: {what}")


def is_about_money(text: str) -> bool:
    lower = text.lower()
    return any(word in lower for word in _MONEY_WORDS)


def is_about_limits(text: str) -> bool:
    lower = text.lower()
    return "too many" in lower or "concurren" in lower or "rate limit" in lower


def parse_error_body(body: bytes | str) -> tuple[str, str]:
    """Parses an error body of any usual shape: (the vendor's error word, its sentence)."""
    raw = body.decode(errors="replace") if isinstance(body, bytes) else body
    try:
        found = parse_json(raw)
    except ValueError:
        return "", "" if raw.lstrip().startswith("<") else raw.strip()
    return _find_error_words(found) if isinstance(found, dict) else ("", raw.strip())


def _find_error_words(found: Mapping[str, Any]) -> tuple[str, str]:
    for name in ("error", "detail"):
        inner = found.get(name)
        if isinstance(inner, dict):
            return _find_error_words(inner)
    words = [str(found[name]) for name in _CODE_FIELDS if isinstance(found.get(name), str | int)]
    texts = [str(found[name]) for name in _TEXT_FIELDS if isinstance(found.get(name), str)]
    return " ".join(words), texts[0] if texts else ""
