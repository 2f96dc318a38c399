"""A local server that speaks Anthropic's streaming Messages format, faults included, for tests and benches.

Written from the vendor's API reference (``POST /v1/messages`` with ``stream: true``: the events message_start,
content_block_start/delta/stop, ping, message_delta, message_stop, error), not from our client.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from offhook_lab.sse import ARGUMENT_PIECE, HttpRefusal, Script, ScriptedAnswer, SseServer, StreamFrames, serve_sse

MODELS: Final = ("claude-haiku-4-5", "claude-haiku-5-5", "claude-sonnet-5-5")
UNAUTHORIZED: Final = HttpRefusal(401, message="invalid x-api-key", type="authentication_error")
FORBIDDEN: Final = HttpRefusal(403, message="Your API key does not have permission.", type="permission_error")
NO_SUCH_MODEL: Final = HttpRefusal(404, message="model: claude-none", type="not_found_error")
TOO_LONG: Final = HttpRefusal(400, message="prompt is too long: 208310 tokens > 200000 maximum")
NO_CREDIT: Final = HttpRefusal(400, message="Your credit balance is too low to access the Anthropic API.")
RATE_LIMITED: Final = HttpRefusal(
    429, message="This request would exceed your rate limit.", type="rate_limit_error", headers={"retry-after": "7"}
)
SERVER_ERROR: Final = HttpRefusal(500, message="Internal server error", type="api_error")
OVERLOADED: Final = HttpRefusal(529, message="Overloaded", type="overloaded_error")
_TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_THINKS: Final = ("claude-haiku-5", "claude-sonnet-5", "claude-opus-5")


class AnthropicDialect:
    """Implements ``VendorDialect``."""

    unauthorized = UNAUTHORIZED
    rate_limited = RATE_LIMITED

    def is_stream(self, method: str, target: str) -> bool:
        return method == "POST" and target.partition("?")[0] == "/v1/messages"

    def is_authorized(self, headers: Mapping[str, str], target: str, key: str) -> bool:
        """Accepts ``x-api-key`` or, as newer clients send, a bearer token; a version is required in either case."""
        sent = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        return sent == key and "anthropic-version" in headers

    def look_up(self, method: str, target: str, models: Sequence[str]) -> tuple[int, Any] | None:
        name = target.partition("?")[0].removeprefix("/v1/models/")
        if name not in models:
            return 404, self.error_body(NO_SUCH_MODEL)
        return 200, {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}

    def refusal_of(self, target: str, body: Mapping[str, Any]) -> HttpRefusal | None:
        message = next(_find_problems(body), None)
        return None if message is None else HttpRefusal(400, message=message)

    def error_body(self, refusal: HttpRefusal) -> Any:
        error = {"type": refusal.type, "message": refusal.message}
        return {"type": "error", "error": error, "request_id": "req_lab"}

    def build_frames(self, answer: ScriptedAnswer, body: Mapping[str, Any]) -> StreamFrames:
        prompt = len(json.dumps([body.get("system"), body["messages"]]).split())
        usage = {
            "input_tokens": prompt,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 2,
            "output_tokens": 1,
        }
        message = {
            "id": "msg_lab",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        head = [_event_frame("message_start", {"message": message}), _event_frame("ping", {})]
        deltas = list(_block_events(answer))
        reason = answer.finish_reason or ("tool_use" if answer.calls else "end_turn")
        end = {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": len(deltas)}}
        return StreamFrames(head, deltas, [_event_frame("message_delta", end), _event_frame("message_stop", {})])

    def error_frame(self) -> str:
        return _event_frame("error", {"error": {"type": "overloaded_error", "message": "Overloaded"}})


def serve_anthropic(
    script: Script, *, api_key: str | None = None, models: Sequence[str] = MODELS
) -> AbstractAsyncContextManager[SseServer]:
    """Serves until the block ends. With ``api_key``, any other key gets the vendor's 401."""
    return serve_sse(SseServer(AnthropicDialect(), script, api_key, models), "")


def _event_frame(kind: str, data: Mapping[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"


def _block_events(answer: ScriptedAnswer) -> Iterator[str]:
    """Returns every block's events. A block's start is sent with its first delta, so that faults count pieces of
    content."""
    index = 0
    if answer.text:
        start = _event_frame("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}})
        for word in answer.words:
            yield start + _event_frame(
                "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": word}}
            )
            start = ""
        yield _event_frame("content_block_stop", {"index": 0})
        index = 1
    for number, (name, arguments) in enumerate(answer.calls):
        block = {"type": "tool_use", "id": f"toolu_lab{number}", "name": name, "input": {}}
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        pieces = [text[at : at + ARGUMENT_PIECE] for at in range(0, len(text), ARGUMENT_PIECE)] or [""]
        start = _event_frame("content_block_start", {"index": index, "content_block": block})
        for piece in pieces:
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield start + _event_frame("content_block_delta", {"index": index, "delta": delta})
            start = ""
        yield _event_frame("content_block_stop", {"index": index})
        index += 1


# -- requests that the vendor refuses ------------------------------------------------------------------------------


def _find_problems(body: Mapping[str, Any]) -> Iterator[str]:
    for name in ("model", "max_tokens", "messages"):
        if not body.get(name):
            yield f"{name}: Field required"
            return
    if body.get("stream") is not True:
        yield "stream: this server only streams"
    model = str(body["model"])
    temperature = body.get("temperature")
    if temperature is not None and model.startswith(_THINKS):
        yield "`temperature` is not supported by this model."
    if temperature is not None and not 0 <= temperature <= 1:
        yield "temperature: range: 0..1"
    if "thinking" in body and not model.startswith(_THINKS) and body["thinking"].get("type") != "disabled":
        yield "thinking: this model does not support it"
    yield from _wrong_tools(body)
    yield from _wrong_messages(body["messages"])


def _wrong_tools(body: Mapping[str, Any]) -> Iterator[str]:
    for index, tool in enumerate(body.get("tools") or ()):
        if not _TOOL_NAME.fullmatch(str(tool.get("name"))):
            yield f"tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if (tool.get("input_schema") or {}).get("type") != "object":
            yield f"tools.{index}.custom.input_schema.type: Field required"


def _wrong_messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if messages[0].get("role") != "user":
        yield "messages.0: first message must use the user role"
    if messages[-1].get("role") == "assistant":
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    open_calls: set[str] = set()
    for index, message in enumerate(messages):
        if message.get("role") not in {"user", "assistant"}:
            yield f"messages.{index}.role: Input should be 'user' or 'assistant'"
            return
        blocks = message.get("content")
        if not isinstance(blocks, list) or not blocks:
            yield f"messages.{index}: all messages must have non-empty content"
            return
        results = {block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"}
        if open_calls - results:
            yield f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after"
        if results - open_calls:
            yield f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks"
        if any(block.get("type") == "text" and not str(block.get("text")).strip() for block in blocks):
            yield "messages: text content blocks must contain non-whitespace text"
        open_calls = {block["id"] for block in blocks if block.get("type") == "tool_use"}
