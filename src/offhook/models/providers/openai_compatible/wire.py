"""The chat-completions format: our request as the vendor's body, the vendor's deltas as our events. Pure."""

import json
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from offhook.kit.json_values import parse_json
from offhook.models.llm.llm_errors import malformed_call_error
from offhook.models.ports import LlmMessage, LlmRequest, ToolCall

# The answer to a function call that never got one: the vendor refuses a history with open calls.
UNANSWERED_RESULT: Final = '{"error": "There was no answer."}'
_AS_JSON: Final = "Answer with one JSON object that fits this JSON schema, and with nothing else:\n{schema}"


def body_of(request: LlmRequest, *, model: str, temperature: float) -> dict[str, Any]:
    """Returns the body of a streamed request. Extraction keeps its temperature; conversation has the configured one."""
    body: dict[str, Any] = {
        "model": model,
        "messages": list(_history_messages(request.messages)),
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": temperature if request.response_schema is None else request.temperature,
    }
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in request.tools
        ]
    if request.response_schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": request.response_schema},
        }
    return body


def without_refused_parts(
    body: Mapping[str, Any], refused: Collection[str], schema: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Returns the body without the parts that a server refuses, as close to the request as it accepts.

    ``max_tokens`` becomes ``max_completion_tokens``; a JSON schema becomes words and ``json_object``, then only words.
    """
    kept = {name: value for name, value in body.items() if name not in refused}
    if "max_tokens" in body and "max_tokens" in refused and "max_completion_tokens" not in refused:
        kept["max_completion_tokens"] = body["max_tokens"]
    if schema is not None and "json_schema" in refused:
        words = {"role": "system", "content": _AS_JSON.format(schema=json.dumps(schema, ensure_ascii=False))}
        kept["messages"] = [words, *body["messages"]]
        kept["response_format"] = {"type": "json_object"}
        if "json_object" in refused:
            del kept["response_format"]
    return kept


def refused_part(sent: Mapping[str, Any], param: str | None, message: str) -> str | None:
    """Returns the part that caused a 400; None when the request cannot do without it."""
    text = f"{param or ''} {message}".lower()
    for name in ("stream_options", "temperature", "max_tokens", "max_completion_tokens"):
        if name in sent and name in text:
            return name
    form = sent.get("response_format")
    return str(form["type"]) if form is not None else None


def _history_messages(messages: Sequence[LlmMessage]) -> Iterator[dict[str, Any]]:
    """Yields the history for the vendor: every call directly followed by its answer, no answer without its call.

    An interruption, or a side effect that outlived its turn, can separate them in our history.
    """
    answers = {message.tool_call_id: message.content for message in messages if message.role == "tool"}
    for message in messages:
        if message.role == "tool" or not (message.content or message.tool_calls):
            continue
        if not message.tool_calls:
            yield {"role": message.role, "content": message.content}
            continue
        yield {
            "role": message.role,
            "content": message.content or None,
            "tool_calls": [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
                }
                for call in message.tool_calls
            ],
        }
        for call in message.tool_calls:
            yield {"role": "tool", "tool_call_id": call.id, "content": answers.get(call.id, UNANSWERED_RESULT)}


@dataclass(slots=True)
class _PartialCall:
    id: str | None
    name: str
    arguments: str


class ToolCallParts:
    """Assembles function calls from deltas."""

    def __init__(self) -> None:
        self._calls: list[_PartialCall] = []
        self._at_index: dict[int, _PartialCall] = {}

    def add_delta(self, delta: Any) -> None:
        """Adds one entry of ``delta.tool_calls``."""
        index = delta.index if isinstance(getattr(delta, "index", None), int) else 0
        call = self._at_index.get(index)
        # some servers send whole calls, all with index 0
        if call is None or (delta.id and call.id and delta.id != call.id):
            call = self._at_index[index] = _PartialCall(None, "", "")
            self._calls.append(call)
        call.id = call.id or delta.id
        function = delta.function
        if function is not None:
            call.name = call.name or function.name or ""
            call.arguments += function.arguments or ""

    def finished_calls(self) -> Iterator[ToolCall]:
        """Returns the calls; raises ModelError (retryable) for a missing name or arguments that are no JSON object."""
        for call in self._calls:
            try:
                arguments = parse_json(call.arguments.strip() or "{}")
            except ValueError:
                arguments = None
            if not call.name or not isinstance(arguments, dict):
                raise malformed_call_error(call.name, call.arguments)
            yield ToolCall(call.id or f"call_{secrets.token_hex(8)}", call.name, arguments)
