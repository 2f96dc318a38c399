"""Rejects JSON that parses but cannot be stored or returned: NUL, lone surrogates, NaN, absurd depth or numbers."""

import json
import re
from typing import Any

import numpy as np
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from offhook.kit.http.errors import error_response

MAX_DEPTH = 100
# Parsing runs in the loop that carries audio: 10 MB of brackets would stop every call for seconds.
MAX_JSON_BYTES = 2 * 1024 * 1024
# Each problem that is found in a body names the keys above it: with keys of a megabyte, a thousand of them fill the memory.
MAX_KEY_BYTES = 1000
# Of values, which are all checked before the first one is refused. The largest graph has a tenth of these.
MAX_VALUES = 100_000

# Nearly every body passes these checks, at the speed of a substring search, and is not parsed twice.
_ESCAPES = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_EXPONENT = re.compile(rb"[0-9][eE]\+?[0-9]{3}")
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


class BodyTooLarge(Exception):
    """The JSON exceeds the size limit; one sentence."""


class JsonBodyGuard:
    """Reads a JSON body once, checks it and passes it on; other bodies (uploads) stream through untouched."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "json" not in Headers(scope=scope).get("content-type", "").lower():
            await self._app(scope, receive, send)
            return
        try:
            body = await _read_body(receive)
        except BodyTooLarge as too_large:
            await error_response(413, str(too_large), "too_large")(scope, receive, send)
            return
        except HTTPException as too_large:  # raised by the framework's body limit
            await error_response(too_large.status_code, too_large.detail, "too_large")(scope, receive, send)
            return
        if body is None:
            return
        problem = find_problem(body)
        if problem is not None:
            detail = [{"loc": ["body"], "msg": problem, "type": "json_invalid"}]
            await error_response(422, detail, "validation_error")(scope, receive, send)
            return
        await self._app(scope, _replay_body(body, receive), send)


def find_problem(body: bytes) -> str | None:
    """Returns a sentence on what is wrong; None if the body is fine or not JSON, which the parser reports later."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return "The body is not UTF-8."
    # The parser would take it for UTF-16 or UTF-32, in which nothing below finds what it looks for.
    if b"\0" in body:
        return "The body contains a NUL byte. Send JSON in UTF-8."
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _nesting_depth(body) > MAX_DEPTH:
        return f"The body is nested deeper than {MAX_DEPTH} levels."
    if len(body) > MAX_KEY_BYTES and (problem := _excess_of(body)) is not None:
        return problem
    is_suspect = _ESCAPES.search(body) or b"NaN" in body or b"Infinity" in body or _EXPONENT.search(body)
    if not is_suspect:
        return None
    try:
        parsed = json.loads(body, parse_constant=_refuse_constant, parse_float=_parse_finite)
    except json.JSONDecodeError:
        return None
    except ValueError as bad:
        return str(bad)
    return _find_bad_text(parsed)


def _excess_of(body: bytes) -> str | None:
    """Returns what of a body is too much: a key's length, or the number of values; in linear time."""
    parts = _split_at_quotes(body)
    if max(map(len, parts[1::2]), default=0) > MAX_KEY_BYTES:
        for text, after in zip(parts[1::2], parts[2::2], strict=False):
            if len(text) > MAX_KEY_BYTES and after.lstrip().startswith(b":"):
                return f"The body has a key of more than {MAX_KEY_BYTES} bytes."
    if body.count(b",") >= MAX_VALUES and sum(part.count(b",") for part in parts[::2]) >= MAX_VALUES:
        return f"The body has more than {MAX_VALUES:,} values."
    return None


def _split_at_quotes(body: bytes) -> list[bytes]:
    """Returns what is outside of strings and in them, in turns; no pattern that could backtrack."""
    return body.replace(b"\\\\", b"__").replace(b'\\"', b"__").split(b'"')


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"The body contains {name}, which is not JSON.")


def _parse_finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("The body contains a number that is too large.")
    return number


def _find_bad_text(value: Any) -> str | None:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if "\0" in item or any("\ud800" <= char <= "\udfff" for char in item):
                return "The body holds a NUL character or half of a surrogate pair, which cannot be stored."
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, dict):
            stack.extend(item)
            stack.extend(item.values())
    return None


def _nesting_depth(body: bytes) -> int:
    """Returns how deeply brackets are nested, in linear time."""
    brackets = np.frombuffer(b"".join(_split_at_quotes(body)[::2]).translate(_STEPS, _ALL_BUT_BRACKETS), np.int8)
    return int(brackets.cumsum(dtype=np.int32).max(initial=0))


async def _read_body(receive: Receive) -> bytes | None:
    """Returns the whole body; None when the client disconnected."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > MAX_JSON_BYTES:
            raise BodyTooLarge("The body is too large. JSON bodies are limited to 2 MB.")
        if not message.get("more_body", False):
            return b"".join(chunks)


def _replay_body(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def receive_again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
