"""Maps LLM vendors' failures to the one error that the voice loop knows: their SDKs differ, the reasons do not."""

import re
from collections.abc import Mapping
from typing import Any, Final

from offhook.kit.egress import EgressError
from offhook.kit.egress.connection_words import describe_connection_failure
from offhook.models.ports import ModelError

_MAX_MESSAGE_CHARS: Final = 300
_MAX_RETRY_AFTER_S: Final = 3600.0
# status -> (code, is worth retrying). 529 is Anthropic's "overloaded".
_BY_STATUS: Final = {
    400: ("llm_bad_request", False),
    401: ("llm_unauthorized", False),
    402: ("llm_no_quota", False),
    403: ("llm_forbidden", False),
    404: ("llm_not_found", False),
    408: ("llm_timeout", True),
    409: ("llm_conflict", True),
    413: ("llm_context_too_long", False),
    422: ("llm_bad_request", False),
    429: ("llm_rate_limited", True),
    503: ("llm_overloaded", True),
    504: ("llm_timeout", True),
    529: ("llm_overloaded", True),
}
_HOPELESS_CODES: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached", "account_deactivated"})
# The wording of OpenAI, Anthropic, Google and the local servers; most of them send it with a plain 400.
_TOO_LONG: Final = re.compile(
    r"context.?length|maximum context|context window|prompt is too long|too many tokens|exceeds the (maximum|available)"
    r"|input token count",
    re.IGNORECASE,
)


def status_error(
    status: int, message: str, *, code: Any = None, headers: Mapping[str, str] | None = None
) -> ModelError:
    """Converts an answer with an error status; ``code`` is the vendor's own error word."""
    if code in _HOPELESS_CODES or (status == 400 and "credit balance" in message.lower()):
        return ModelError("llm_no_quota", shorten_message(message), retryable=False)
    if status in {400, 413, 422} and (code == "context_length_exceeded" or _TOO_LONG.search(message)):
        return ModelError("llm_context_too_long", shorten_message(message), retryable=False)
    if code == "content_filter":
        return content_filter_error()
    known, retryable = _BY_STATUS.get(status, ("llm_server_error", True) if status >= 500 else ("llm_refused", False))
    wait_s = _retry_after(headers or {}) if retryable else None
    return ModelError(known, f"HTTP {status}: {shorten_message(message)}", retryable=retryable, retry_after_s=wait_s)


def stream_error(message: str, *, is_ours: bool) -> ModelError:
    """Converts the vendor's error object in the middle of a stream; ``is_ours``: our request was at fault."""
    return ModelError("llm_stream_error", shorten_message(message), retryable=not is_ours)


def overloaded_error(message: str) -> ModelError:
    return ModelError("llm_overloaded", shorten_message(message), retryable=True)


def content_filter_error() -> ModelError:
    return ModelError("llm_content_filtered", "The vendor's content filter stopped the answer.", retryable=False)


def unknown_model_error(model: str, listed: list[str]) -> ModelError:
    known = ", ".join(sorted(listed)[:20])
    return ModelError("llm_not_found", f"The server has no model {model!r}; it has: {known}.", retryable=False)


def timeout_error(what: str, seconds: float) -> ModelError:
    return ModelError("llm_timeout", f"No {what} for {seconds:g} s.", retryable=True)


def connect_timeout_error() -> ModelError:
    return ModelError("llm_timeout", "The server could not be reached in time.", retryable=True)


def connection_error(error: BaseException) -> ModelError:
    """Converts a lost connection; SDKs also report the egress guard's refusals as one."""
    reason = error if isinstance(error, EgressError) else error.__cause__ or error
    if isinstance(reason, EgressError):
        return ModelError("llm_address_refused", reason.message, retryable=reason.retryable)
    return ModelError("llm_connection", describe_connection_failure(shorten_message(reason)), retryable=True)


def cut_off_error() -> ModelError:
    return ModelError("llm_cut_off", "The answer ended in the middle.", retryable=True)


def malformed_answer_error(error: BaseException) -> ModelError:
    return ModelError("llm_malformed", f"The server sent what cannot be read: {shorten_message(error)}", retryable=True)


def malformed_call_error(name: str, arguments: str) -> ModelError:
    text = f"The model called {name or '?'} with arguments that are no JSON object: {arguments[:120]!r}."
    return ModelError("llm_malformed_tool_call", text, retryable=True)


def shorten_message(error: Any) -> str:
    text = " ".join(str(getattr(error, "message", None) or error or type(error).__name__).split())
    return text if len(text) <= _MAX_MESSAGE_CHARS else text[: _MAX_MESSAGE_CHARS - 1] + "…"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns seconds, or None for a date: vendors send numbers."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(seconds, _MAX_RETRY_AFTER_S) if seconds >= 0 else None
