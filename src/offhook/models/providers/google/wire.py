"""Gemini's format: our request as contents and config, the vendor's chunks as our events. Pure."""

import secrets
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from offhook.kit.json_values import parse_json
from offhook.models.llm import llm_errors
from offhook.models.ports import LlmEvent, LlmMessage, LlmRequest, LlmUsage, TextDelta, ToolCall, ToolCalled
from offhook.models.vendors import ModelChoice

CONVERSATION_START: Final = "(The conversation begins.)"
GO_ON: Final = "(Go on.)"
_FILTERED: Final = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR"}
)
_MALFORMED: Final = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"})
# The vendor accepts this for calls with an unknown signature, e.g. another vendor's before a failover.
_NO_SIGNATURE: Final = b"skip_thought_signature_validator"
_MAX_SIGNATURES: Final = 5000


class ThoughtSignatures:
    """The vendor's signatures of its own calls, by call id; it wants them back with the history."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, call_id: str, signature: bytes) -> None:
        self._by_id[call_id] = signature
        while len(self._by_id) > _MAX_SIGNATURES:
            self._by_id.popitem(last=False)

    def signature_of(self, call_id: str) -> bytes | None:
        return self._by_id.get(call_id)


def config_of(request: LlmRequest, choice: ModelChoice) -> dict[str, Any]:
    """Returns the request without the conversation. Thinking is off, or as short as the model can: a caller waits."""
    config: dict[str, Any] = {
        "temperature": choice.temperature if request.response_schema is None else request.temperature,
        "automatic_function_calling": {"disable": True},
    }
    leading = [message.content for message in _leading_system_messages(request.messages)]
    if leading:
        config["system_instruction"] = "\n\n".join(leading)
    if limit := request.max_tokens or choice.max_tokens:
        config["max_output_tokens"] = limit
    if request.tools:
        declared = [
            {"name": tool.name, "description": tool.description, "parameters_json_schema": tool.parameters}
            for tool in request.tools
        ]
        config["tools"] = [{"function_declarations": declared}]
    if request.response_schema is not None:
        config["response_mime_type"] = "application/json"
        config["response_json_schema"] = request.response_schema
    if choice.model.startswith("gemini-2.5-flash"):
        config["thinking_config"] = {"thinking_budget": 0}
    elif choice.model.startswith("gemini-3"):
        config["thinking_config"] = {"thinking_level": "MINIMAL"}
    return config


def contents_of(messages: Sequence[LlmMessage], signatures: ThoughtSignatures) -> list[dict[str, Any]]:
    """Returns the conversation from the user's first turn to the user's last, with sides merged."""
    result: list[dict[str, Any]] = []
    for role, parts in _content_turns(messages[len(_leading_system_messages(messages)) :], signatures):
        if not result and role == "model":
            result.append({"role": "user", "parts": [{"text": CONVERSATION_START}]})
        if result and result[-1]["role"] == role:
            result[-1]["parts"] += parts
        else:
            result.append({"role": role, "parts": parts})
    if not result:
        result.append({"role": "user", "parts": [{"text": CONVERSATION_START}]})
    elif result[-1]["role"] == "model":
        result.append({"role": "user", "parts": [{"text": GO_ON}]})
    return result


def _leading_system_messages(messages: Sequence[LlmMessage]) -> Sequence[LlmMessage]:
    count = next((index for index, message in enumerate(messages) if message.role != "system"), len(messages))
    return messages[:count]


def _content_turns(
    messages: Sequence[LlmMessage], signatures: ThoughtSignatures
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    answers = {message.tool_call_id: message.content for message in messages if message.role == "tool"}
    for message in messages:
        if message.role == "tool" or not (message.content or message.tool_calls):
            continue
        text = [{"text": message.content}] if message.content else []
        if message.role != "assistant":
            yield "user", text
            continue
        yield "model", [*text, *_call_parts(message.tool_calls, signatures)]
        if message.tool_calls:
            yield "user", [_response_part(call, answers.get(call.id)) for call in message.tool_calls]


def _call_parts(calls: Sequence[ToolCall], signatures: ThoughtSignatures) -> Iterator[dict[str, Any]]:
    """Yields the parts; of parallel calls only the first carries a signature."""
    for index, call in enumerate(calls):
        part: dict[str, Any] = {"function_call": {"name": call.name, "args": call.arguments}}
        signature = signatures.signature_of(call.id) or (_NO_SIGNATURE if index == 0 else None)
        yield part if signature is None else {**part, "thought_signature": signature}


def _response_part(call: ToolCall, answer: str | None) -> dict[str, Any]:
    try:
        value = parse_json(answer) if answer is not None else {"error": "There was no answer."}
    except ValueError:
        value = answer
    response = value if isinstance(value, dict) else {"result": value}
    return {"function_response": {"name": call.name, "response": response}}


class GoogleAnswer:
    """Assembles one streamed answer. The vendor's usage figures grow with every chunk."""

    def __init__(self, signatures: ThoughtSignatures) -> None:
        self._signatures = signatures
        self._calls: list[ToolCall] = []
        self._finish_reason: str | None = None
        self._has_prompt_usage = False
        self._completion_tokens = 0

    def read_chunk(self, chunk: Any) -> Iterator[LlmEvent]:
        """Handles one chunk; raises ModelError when the vendor's filter stopped the answer."""
        if chunk.usage_metadata is not None:
            yield from self._count_usage(chunk.usage_metadata)
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason is not None:
            raise llm_errors.content_filter_error()
        for candidate in chunk.candidates or ():
            for part in (candidate.content.parts if candidate.content is not None else None) or ():
                if part.function_call is not None:
                    self._add_call(part)
                elif part.text and not part.thought:
                    yield TextDelta(part.text)
            if candidate.finish_reason is not None:
                self._finish(str(getattr(candidate.finish_reason, "value", candidate.finish_reason)))

    def finish_events(self) -> Iterator[LlmEvent]:
        """Returns the calls and the rest of the usage; raises ModelError for an incomplete answer."""
        if self._finish_reason is None:
            raise llm_errors.cut_off_error()
        for call in self._calls:
            yield ToolCalled(call)
        yield LlmUsage(0, self._completion_tokens)

    def _count_usage(self, usage: Any) -> Iterator[LlmUsage]:
        self._completion_tokens = int(usage.candidates_token_count or 0) + int(usage.thoughts_token_count or 0)
        if not self._has_prompt_usage and usage.prompt_token_count:
            self._has_prompt_usage = True
            yield LlmUsage(int(usage.prompt_token_count), 0, int(usage.cached_content_token_count or 0))

    def _add_call(self, part: Any) -> None:
        called = part.function_call
        call = ToolCall(f"call_{secrets.token_hex(8)}", str(called.name or ""), dict(called.args or {}))
        if not call.name:
            raise llm_errors.malformed_call_error("", str(called.args))
        if part.thought_signature is not None:
            self._signatures.keep(call.id, part.thought_signature)
        self._calls.append(call)

    def _finish(self, reason: str) -> None:
        if reason in _FILTERED:
            raise llm_errors.content_filter_error()
        if reason in _MALFORMED:
            raise llm_errors.malformed_call_error("", reason)
        self._finish_reason = reason


def retry_delay_s(details: Any) -> float | None:
    """Parses ``{"error": {"details": [{"retryDelay": "7s"}]}}`` → 7.0; None when the vendor gave none."""
    error = details.get("error") if isinstance(details, Mapping) else None
    for item in (error.get("details") if isinstance(error, Mapping) else None) or ():
        delay = item.get("retryDelay") if isinstance(item, Mapping) else None
        if isinstance(delay, str):
            try:
                return float(delay.removesuffix("s"))
            except ValueError:
                return None
    return None
