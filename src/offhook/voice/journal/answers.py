"""What models, tools and other servers answered, as a journal keeps it and a replay reads it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from offhook.models.ports import LlmEvent, LlmUsage, ModelError, SttEvent, TextDelta, ToolCall, ToolCalled

# What can come on a stream: one item of an answer, its end, an error, and that it was closed later than its reader left it
ITEM: Final = "item"
OVER: Final = "over"
FAILED: Final = "failed"
CLOSED: Final = "closed"
# A timer of the call was due; its value is how long it was set for.
DUE: Final = "due"


def encode_llm_event(event: LlmEvent) -> Any:
    if isinstance(event, TextDelta):
        return event.text
    if isinstance(event, ToolCalled):
        return {"call": asdict(event.call)}
    return {"usage": asdict(event)}


def decode_llm_event(value: Any) -> LlmEvent:
    if isinstance(value, str):
        return TextDelta(value)
    if "call" in value:
        return ToolCalled(ToolCall(**value["call"]))
    return LlmUsage(**value["usage"])


def encode_stt_event(event: SttEvent) -> Any:
    return asdict(event)


def decode_stt_event(value: Mapping[str, Any]) -> SttEvent:
    return SttEvent(**value)


def encode_error(error: ModelError) -> Any:
    return [error.code, str(error), error.retryable, error.retry_after_s]


def decode_error(value: Any) -> ModelError:
    code, message, is_retryable, retry_after_s = value
    return ModelError(code, message, retryable=is_retryable, retry_after_s=retry_after_s)
