"""The Messages format: our request as the vendor's body, the vendor's events as ours. Pure."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from offhook.kit.json_values import parse_json
from offhook.models.llm import llm_errors
from offhook.models.ports import LlmMessage, LlmRequest, LlmUsage, TextDelta, ToolCall, ToolCalled
from offhook.models.vendors import ModelChoice

# The vendor requires a limit; a spoken answer stays far below it.
MAX_TOKENS: Final = 2048
# The vendor's conversations begin and end with the user.
CONVERSATION_START: Final = "(The conversation begins.)"
GO_ON: Final = "(Go on.)"
UNANSWERED_RESULT: Final = '{"error": "There was no answer."}'
_AS_JSON: Final = "Answer with one JSON object that fits this JSON schema, and with nothing else:\n{schema}"
# Models with fixed sampling refuse a temperature; models that think first make callers wait.
_OLDER: Final = ("claude-haiku-4", "claude-sonnet-4", "claude-opus-4-5", "claude-opus-4-6", "claude-3")
_BETWEEN_TOOLS: Final = ("claude-sonnet-5-5", "claude-opus-5-5")


def body_of(request: LlmRequest, choice: ModelChoice) -> dict[str, Any]:
    """Returns the body of a streamed request, with optional parts that :func:`without_refused_parts` can remove."""
    leading, rest = _split_system_messages(request.messages)
    body: dict[str, Any] = {
        "model": choice.model,
        "max_tokens": request.max_tokens or choice.max_tokens or MAX_TOKENS,
        "messages": _merge_sides(_content_blocks(rest)),
    }
    if leading:
        body["system"] = "\n\n".join(leading)
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
    if choice.model.startswith(_OLDER):
        temperature = choice.temperature if request.response_schema is None else request.temperature
        body["extra_body"] = {"temperature": min(temperature, 1.0)}
    else:
        body["thinking"] = {"type": "between_tools" if choice.model.startswith(_BETWEEN_TOOLS) else "disabled"}
        body["output_config"] = {"effort": "low"}
    if request.response_schema is not None:
        form = {"type": "json_schema", "schema": request.response_schema}
        body["output_config"] = {**body.get("output_config", {}), "format": form}
    return body


def without_refused_parts(
    body: Mapping[str, Any], refused: Collection[str], schema: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Returns the body without the parts that a model refuses: temperature, thinking, effort, format."""
    kept = dict(body)
    if "temperature" in refused:
        kept.pop("extra_body", None)
    if "thinking" in refused:
        kept.pop("thinking", None)
    output = {name: value for name, value in body.get("output_config", {}).items() if name not in refused}
    if output:
        kept["output_config"] = output
    else:
        kept.pop("output_config", None)
    if schema is not None and "format" in refused:
        words = _AS_JSON.format(schema=json.dumps(schema, ensure_ascii=False))
        kept["system"] = "\n\n".join(filter(None, (body.get("system"), words)))
    return kept


def refused_part(sent: Mapping[str, Any], message: str) -> str | None:
    """Returns the optional part that caused a 400; None when the request cannot do without it."""
    text = message.lower()
    present = {
        "temperature": "extra_body" in sent,
        "thinking": "thinking" in sent,
        "effort": "effort" in sent.get("output_config", {}),
        "format": "format" in sent.get("output_config", {}),
    }
    words = {**{name: name for name in present}, "format": "output_config.format"}
    for name, is_present in present.items():
        if is_present and (words[name] in text or (name == "format" and "schema" in text)):
            return name
    return None


def _split_system_messages(messages: Sequence[LlmMessage]) -> tuple[list[str], Sequence[LlmMessage]]:
    """Splits off the leading system messages, which the vendor takes separately."""
    leading: list[str] = []
    for index, message in enumerate(messages):
        if message.role != "system":
            return leading, messages[index:]
        leading.append(message.content)
    return leading, ()


def _content_blocks(messages: Sequence[LlmMessage]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yields roles and content blocks; pairs every call with its answer and drops answers without a call."""
    answers = {message.tool_call_id: message.content for message in messages if message.role == "tool"}
    for message in messages:
        if message.role == "tool" or not (message.content.strip() or message.tool_calls):
            continue
        text = [{"type": "text", "text": message.content.strip()}] if message.content.strip() else []
        if message.role != "assistant":
            yield "user", text
            continue
        calls = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
            for call in message.tool_calls
        ]
        yield "assistant", [*text, *calls]
        if calls:
            yield (
                "user",
                [
                    {
                        "type": "tool_result",
                        "tool_use_id": call.id,
                        "content": answers.get(call.id, UNANSWERED_RESULT),
                    }
                    for call in message.tool_calls
                ],
            )


def _merge_sides(messages: Iterator[tuple[str, list[dict[str, Any]]]]) -> list[dict[str, Any]]:
    """Merges messages into one per change of sides, from the user's first to the user's last."""
    result: list[dict[str, Any]] = []
    for role, blocks in messages:
        if not result and role == "assistant":
            result.append({"role": "user", "content": [{"type": "text", "text": CONVERSATION_START}]})
        if result and result[-1]["role"] == role:
            result[-1]["content"] += blocks
        else:
            result.append({"role": role, "content": blocks})
    if not result:
        result.append({"role": "user", "content": [{"type": "text", "text": CONVERSATION_START}]})
    elif result[-1]["role"] == "assistant":
        result.append({"role": "user", "content": [{"type": "text", "text": GO_ON}]})
    return result


@dataclass(slots=True)
class _PartialCall:
    id: str
    name: str
    arguments: str = ""


@dataclass(slots=True)
class AnthropicAnswer:
    """Assembles one streamed answer."""

    output_tokens: int = 0
    stop_reason: str | None = None
    is_over: bool = False
    _calls: dict[int, _PartialCall] = field(default_factory=dict)

    def read_event(self, event: Any) -> list[TextDelta | LlmUsage]:
        """Handles one event; ignores thinking and pings."""
        if event.type == "message_start":
            usage = event.message.usage
            # the vendor counts cache reads and writes separately from the other prompt tokens
            cached, written = int(usage.cache_read_input_tokens or 0), int(usage.cache_creation_input_tokens or 0)
            return [LlmUsage(int(usage.input_tokens or 0) + cached + written, 0, cached)]
        if event.type == "content_block_start" and event.content_block.type == "tool_use":
            self._calls[event.index] = _PartialCall(event.content_block.id, event.content_block.name)
        elif event.type == "content_block_delta":
            if event.delta.type == "text_delta" and event.delta.text:
                return [TextDelta(event.delta.text)]
            if event.delta.type == "input_json_delta":
                self._calls[event.index].arguments += event.delta.partial_json
        elif event.type == "message_delta":
            self.stop_reason = event.delta.stop_reason or self.stop_reason
            self.output_tokens = int(event.usage.output_tokens or 0)
        elif event.type == "message_stop":
            self.is_over = True
        return []

    def finish_calls(self) -> Iterator[ToolCalled]:
        """Returns the calls; raises ModelError for an incomplete answer."""
        if self.stop_reason == "refusal":
            raise llm_errors.content_filter_error()
        if not self.is_over:
            raise llm_errors.cut_off_error()
        for call in self._calls.values():
            try:
                arguments = parse_json(call.arguments.strip() or "{}")
            except ValueError:
                arguments = None
            if not isinstance(arguments, dict):
                raise llm_errors.malformed_call_error(call.name, call.arguments)
            yield ToolCalled(ToolCall(call.id, call.name, arguments))
