"""A local server that speaks the vendor's streaming chat-completions format, faults included, for tests and benches.

Written from OpenAI's API reference (``POST /v1/chat/completions`` with ``stream: true``: server-sent events of
``chat.completion.chunk`` objects and a last ``data: [DONE]``), not from our client. It refuses the same requests as the
vendor.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from offhook_lab.openai_rules import find_violation
from offhook_lab.sse import (
    ARGUMENT_PIECE,
    FaultKind,
    HttpRefusal,
    ReceivedRequest,
    Reply,
    Script,
    ScriptedAnswer,
    SseServer,
    StreamFault,
    StreamFrames,
    serve_sse,
)

__all__ = [
    "NO_QUOTA",
    "NO_SUCH_MODEL",
    "RATE_LIMITED",
    "SERVER_ERROR",
    "TOO_LONG",
    "UNAUTHORIZED",
    "FaultKind",
    "HttpRefusal",
    "OpenAiServer",
    "ReceivedRequest",
    "Reply",
    "Script",
    "ScriptedAnswer",
    "StreamFault",
    "serve_openai",
]

MODELS: Final = ("gpt-4.1", "gpt-4.1-mini", "gpt-4o-mini")
UNAUTHORIZED: Final = HttpRefusal(401, "invalid_api_key", "Incorrect API key provided: sk-te**t.")
NO_SUCH_MODEL: Final = HttpRefusal(404, "model_not_found", "The model does not exist or you do not have access to it.")
RATE_LIMITED: Final = HttpRefusal(
    429, "rate_limit_exceeded", "Rate limit reached for requests.", "requests", headers={"retry-after": "1"}
)
NO_QUOTA: Final = HttpRefusal(429, "insufficient_quota", "You exceeded your current quota.", "insufficient_quota")
SERVER_ERROR: Final = HttpRefusal(500, None, "The server had an error while processing your request.", "server_error")
TOO_LONG: Final = HttpRefusal(
    400,
    "context_length_exceeded",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
    param="messages",
)

OpenAiServer = SseServer


class OpenAiDialect:
    """Implements ``VendorDialect``."""

    unauthorized = UNAUTHORIZED
    rate_limited = RATE_LIMITED

    def is_stream(self, method: str, target: str) -> bool:
        return method == "POST"

    def is_authorized(self, headers: Mapping[str, str], target: str, key: str) -> bool:
        return headers.get("authorization") == f"Bearer {key}"

    def look_up(self, method: str, target: str, models: Sequence[str]) -> tuple[int, Any] | None:
        if target.partition("?")[0] != "/v1/models":
            return None
        listed = [{"id": name, "object": "model", "created": 1_760_000_000, "owned_by": "lab"} for name in models]
        return 200, {"object": "list", "data": listed}

    def refusal_of(self, target: str, body: Mapping[str, Any]) -> HttpRefusal | None:
        if target.partition("?")[0] != "/v1/chat/completions":
            return HttpRefusal(404, "unknown_url", f"Unknown request URL: POST {target}.")
        broken = find_violation(body)
        return None if broken is None else HttpRefusal(400, broken.code, broken.message, param=broken.param)

    def error_body(self, refusal: HttpRefusal) -> Any:
        return {
            "error": {
                "message": refusal.message,
                "type": refusal.type,
                "param": refusal.param,
                "code": refusal.code,
            }
        }

    def build_frames(self, answer: ScriptedAnswer, body: Mapping[str, Any]) -> StreamFrames:
        has_usage = bool((body.get("stream_options") or {}).get("include_usage"))
        base = {
            "id": "chatcmpl-lab",
            "object": "chat.completion.chunk",
            "created": 1_760_000_000,
            "model": body.get("model"),
            "service_tier": "default",
            "system_fingerprint": "fp_lab",
            **({"usage": None} if has_usage else {}),
        }
        deltas = _answer_deltas(answer)
        tail = [_delta_chunk(base, {}, answer.finish_reason or ("tool_calls" if answer.calls else "stop"))]
        if has_usage and answer.sends_usage:
            prompt = sum(len(str(message.get("content") or "").split()) for message in body.get("messages") or ())
            count = len(deltas)
            usage = {
                "prompt_tokens": prompt,
                "completion_tokens": count,
                "total_tokens": prompt + count,
                "prompt_tokens_details": {"cached_tokens": prompt // 2},
            }
            tail.append(_sse_frame(json.dumps({**base, "choices": [], "usage": usage})))
        return StreamFrames([], [_delta_chunk(base, delta, None) for delta in deltas], [*tail, _sse_frame("[DONE]")])

    def error_frame(self) -> str:
        error = {"message": "The server had an error.", "type": "server_error", "param": None, "code": None}
        return _sse_frame(json.dumps({"error": error}))


def serve_openai(
    script: Script,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    api_key: str | None = None,
    models: Sequence[str] = MODELS,
) -> AbstractAsyncContextManager[OpenAiServer]:
    """Serves until the block ends. With ``api_key``, any other key gets the vendor's 401."""
    return serve_sse(SseServer(OpenAiDialect(), script, api_key, models), "/v1", host, port)


def _sse_frame(data: str) -> str:
    return f"data: {data}\n\n"


def _delta_chunk(base: Mapping[str, Any], delta: Mapping[str, Any], finish_reason: str | None) -> str:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return _sse_frame(json.dumps({**base, "choices": [choice], "obfuscation": "x" * (len(str(delta)) % 7)}))


def _answer_deltas(answer: ScriptedAnswer) -> list[dict[str, Any]]:
    first = {"role": "assistant", "content": "" if answer.text else None, "refusal": None}
    deltas: list[dict[str, Any]] = [first, *({"content": word} for word in answer.words)]
    for index, (name, arguments) in enumerate(answer.calls):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": ""}
        call = {"index": index, "id": f"call_lab{index}", "type": "function", "function": function}
        deltas.append({"tool_calls": [call]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": text[at : at + ARGUMENT_PIECE]}}]}
            for at in range(0, len(text), ARGUMENT_PIECE)
        ]
    return deltas
