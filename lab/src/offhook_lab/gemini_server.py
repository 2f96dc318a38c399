"""A local server that speaks Gemini's streaming format, faults included, for tests and benches.

Written from the vendor's API reference (``POST /v1beta/models/{model}:streamGenerateContent?alt=sse``: events whose data
is a GenerateContentResponse; the end of the body is the end of the answer), not from our client.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final
from urllib.parse import unquote

from offhook_lab.sse import HttpRefusal, Script, ScriptedAnswer, SseServer, StreamFrames, serve_sse

MODELS: Final = ("gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-3.5-flash")
UNAUTHORIZED: Final = HttpRefusal(
    400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", type="API_KEY_INVALID"
)
FORBIDDEN: Final = HttpRefusal(403, "PERMISSION_DENIED", "Your project has been denied access.")
NO_SUCH_MODEL: Final = HttpRefusal(404, "NOT_FOUND", "models/gemini-none is not found for API version v1beta.")
TOO_LONG: Final = HttpRefusal(
    400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
)
RATE_LIMITED: Final = HttpRefusal(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", param="7s")
SERVER_ERROR: Final = HttpRefusal(500, "INTERNAL", "An internal error has occurred.")
OVERLOADED: Final = HttpRefusal(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
_PATH: Final = re.compile(r"/v1beta/models/([^:/]+):streamGenerateContent")
_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")


class GeminiDialect:
    """Implements ``VendorDialect``. In ``HttpRefusal``, ``code`` is the status word and ``param`` a retry delay."""

    unauthorized = UNAUTHORIZED
    rate_limited = RATE_LIMITED

    def is_stream(self, method: str, target: str) -> bool:
        return method == "POST"

    def is_authorized(self, headers: Mapping[str, str], target: str, key: str) -> bool:
        return headers.get("x-goog-api-key") == key

    def look_up(self, method: str, target: str, models: Sequence[str]) -> tuple[int, Any] | None:
        name = unquote(target.partition("?")[0]).removeprefix("/v1beta/models/")
        if name not in models:
            return 404, self.error_body(NO_SUCH_MODEL)
        return 200, {"name": f"models/{name}", "displayName": name, "inputTokenLimit": 1_048_576}

    def refusal_of(self, target: str, body: Mapping[str, Any]) -> HttpRefusal | None:
        path, _, query = unquote(target).partition("?")
        if _PATH.fullmatch(path) is None or "alt=sse" not in query:
            return HttpRefusal(404, "NOT_FOUND", f"The requested URL {path} was not found on this server.")
        message = next(_find_problems(body), None)
        return None if message is None else HttpRefusal(400, "INVALID_ARGUMENT", message)

    def error_body(self, refusal: HttpRefusal) -> Any:
        details: list[dict[str, Any]] = []
        if refusal.param is not None:
            details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": refusal.param})
        status = refusal.code or "UNKNOWN"
        return {"error": {"code": refusal.status, "message": refusal.message, "status": status, "details": details}}

    def build_frames(self, answer: ScriptedAnswer, body: Mapping[str, Any]) -> StreamFrames:
        prompt = len(json.dumps([body.get("systemInstruction"), body["contents"]]).split())
        parts: list[dict[str, Any]] = [{"text": word} for word in answer.words]
        for index, (name, arguments) in enumerate(answer.calls):
            part: dict[str, Any] = {"functionCall": {"name": name, "args": arguments}}
            parts.append(part if index else {**part, "thoughtSignature": "c2lnbmVkIGJ5IGxhYg=="})
        deltas = [_response_chunk([part], prompt, count + 1) for count, part in enumerate(parts)]
        reason = answer.finish_reason or "STOP"
        return StreamFrames([], deltas, [_response_chunk([{"text": ""}], prompt, len(parts), reason)])

    def error_frame(self) -> str:
        return f"data: {json.dumps(self.error_body(OVERLOADED))}\n\n"


def serve_gemini(
    script: Script, *, api_key: str | None = None, models: Sequence[str] = MODELS
) -> AbstractAsyncContextManager[SseServer]:
    """Serves until the block ends. With ``api_key``, any other key gets the vendor's 400."""
    return serve_sse(SseServer(GeminiDialect(), script, api_key, models), "")


def _response_chunk(
    parts: Sequence[Mapping[str, Any]], prompt: int, count: int, finish_reason: str | None = None
) -> str:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish_reason is not None:
        candidate["finishReason"] = finish_reason
    usage = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": count,
        "totalTokenCount": prompt + count,
        "cachedContentTokenCount": 2,
    }
    data = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "lab", "responseId": "lab"}
    return f"data: {json.dumps(data)}\r\n\r\n"


# -- requests that the vendor refuses ------------------------------------------------------------------------------


def _find_problems(body: Mapping[str, Any]) -> Iterator[str]:
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        yield "* GenerateContentRequest.contents: contents is not specified"
        return
    temperature = (body.get("generationConfig") or {}).get("temperature", 1)
    if not 0 <= temperature <= 2:
        yield "* GenerateContentRequest.generation_config.temperature: must be in the range [0.0, 2.0]"
    for tool in body.get("tools") or ():
        for declared in tool.get("functionDeclarations") or ():
            if not _NAME.fullmatch(str(declared.get("name"))):
                yield "* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name."
    if contents[0].get("role") == "model":
        yield "Please ensure that the first turn of the conversation is a user turn."
    yield from _wrong_turns(contents)


def _wrong_turns(contents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Finds wrong turns: every turn of function calls starts with a thought signature and is followed by as many
    responses."""
    called: list[str] = []
    for content in contents:
        parts = content.get("parts") or []
        if not parts:
            yield "* GenerateContentRequest.contents.parts: contents.parts must not be empty."
        answered = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
        if sorted(called) != sorted(answered):
            yield (
                "Please ensure that the number of function response parts is equal to the number of function call parts"
                " of the function call turn."
            )
        calls = [part for part in parts if "functionCall" in part]
        if calls and "thoughtSignature" not in calls[0]:
            yield "Function call is missing a thought_signature in functionCall parts."
        called = [part["functionCall"]["name"] for part in calls]
    if called:
        yield "Please ensure that function call turn comes immediately before a function response turn."
