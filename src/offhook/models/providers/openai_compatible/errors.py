"""What the vendor's SDK raises, as the one error that the voice loop knows."""

from typing import Any, Final

from offhook.models.ports import ModelError

_LONGEST_MESSAGE: Final = 300
# status -> (code, is worth trying again)
_BY_STATUS: Final = {
    400: ("llm_bad_request", False),
    401: ("llm_unauthorized", False),
    403: ("llm_forbidden", False),
    404: ("llm_not_found", False),
    408: ("llm_timeout", True),
    409: ("llm_conflict", True),
    413: ("llm_bad_request", False),
    422: ("llm_bad_request", False),
    429: ("llm_rate_limited", True),
}
_HOPELESS_CODES: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached", "account_deactivated"})


def of_status(status: int, error: Any) -> ModelError:
    """An answer with an error status; ``error`` is the SDK's, with ``code`` and ``message`` of the vendor."""
    if getattr(error, "code", None) in _HOPELESS_CODES:
        return ModelError("llm_no_quota", _short(error), retryable=False)
    code, retryable = _BY_STATUS.get(status, ("llm_server_error", True) if status >= 500 else ("llm_refused", False))
    return ModelError(code, f"HTTP {status}: {_short(error)}", retryable=retryable)


def of_stream_event(error: Any) -> ModelError:
    """The vendor's error object in the middle of a stream."""
    is_ours = getattr(error, "type", None) == "invalid_request_error" or error.code in _HOPELESS_CODES
    return ModelError("llm_stream_error", _short(error), retryable=not is_ours)


def timed_out(what: str, seconds: float) -> ModelError:
    return ModelError("llm_timeout", f"No {what} for {seconds:g} s.", retryable=True)


def connection_timed_out() -> ModelError:
    return ModelError("llm_timeout", "The server could not be reached in time.", retryable=True)


def connection_lost(error: BaseException) -> ModelError:
    reason = error.__cause__ or error
    return ModelError("llm_connection", f"The connection failed: {_short(reason)}", retryable=True)


def cut_off() -> ModelError:
    return ModelError("llm_cut_off", "The answer ended in the middle.", retryable=True)


def malformed(error: BaseException) -> ModelError:
    return ModelError("llm_malformed", f"The server sent what is no chat completion: {_short(error)}", retryable=True)


def _short(error: Any) -> str:
    text = " ".join(str(getattr(error, "message", None) or error or type(error).__name__).split())
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"
