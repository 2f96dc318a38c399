"""One HTTP tool: turns arguments and templates into a request, and its answer into text for the model."""

import asyncio
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlencode

from offhook.kit.egress import EgressClient, EgressError, EgressResponse, check_header
from offhook.kit.egress.policy import MAX_URL_LENGTH
from offhook.kit.json_values import JsonObject, sanitize_json, sanitize_text
from offhook.kit.template import lookup_path, render_json, render_template
from offhook.tools.definitions import HttpApiConfig, ParameterType
from offhook.tools.errors import ToolCallFailed

MAX_ANSWER_BYTES: Final = 256_000
# Limit of the text that a model reads; about 4,000 tokens.
MAX_RESULT_CHARS: Final = 12_000
_MAX_ERROR_CHARS: Final = 400
_IDEMPOTENT: Final = {"GET", "PUT", "DELETE"}
_RETRYABLE_STATUSES: Final = {502, 503, 504}
_MAX_ATTEMPTS: Final = 2
_RETRY_PAUSE_S: Final = 0.25
_SLOT: Final = re.compile(r"\{\{([^{}|]+)(?:\|[^{}]*)?\}\}")
_MEDIA: Final = {"application/json", "text/*", "application/*", ""}


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request ready to be sent. ``secret_headers`` come from the credential and are displayed masked."""

    method: str
    url: str
    headers: dict[str, str]
    secret_headers: dict[str, str]
    body: Any
    query: dict[str, str]

    @property
    def shown_headers(self) -> dict[str, str]:
        return {**self.headers, **dict.fromkeys(self.secret_headers, "********")}


@dataclass(frozen=True, slots=True)
class HttpResult:
    """A result. ``data`` is the mapped answer; for a status of 400 and above, the beginning of the server's text."""

    status: int
    data: Any
    elapsed_ms: int = 0

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


@dataclass(slots=True)
class _TemplateValues:
    """Values for templates: the tool's own arguments first, then the call's context."""

    arguments: Mapping[str, Any]
    context: Mapping[str, Any]
    used_names: set[str] = field(default_factory=set)

    @property
    def merged_values(self) -> JsonObject:
        # a prefixed name means the call's value, even where an argument has the same name
        flat = {"initial_context": self.context, "gathered_context": self.context}
        return {**flat, **self.context, **self.arguments}

    def render_text(self, template: str) -> str:
        self._note_slots(template)
        return render_template(template, self.merged_values)

    def render_address(self, template: str) -> str:
        self._note_slots(template)
        return render_address(template, self.merged_values)

    def render_value(self, template: Any) -> Any:
        """Fills a JSON template's variables; a text that is one variable becomes the value with its type."""
        self._note_slots(json.dumps(template, ensure_ascii=False))
        try:
            return render_json(template, self.merged_values)
        except ValueError:
            raise ToolCallFailed("The body is nested too deeply.") from None

    def _note_slots(self, template: str) -> None:
        self.used_names.update(slot[1].strip().partition(".")[0] for slot in _SLOT.finditer(template))


def render_address(template: str, context: Mapping[str, Any]) -> str:
    """Fills an address template with percent-encoded variables, so that a value stays within its part of the address.

    Raises ToolCallFailed when a value would climb up the path, and for a variable in place of the server: callers'
    words must not choose who receives our secrets.
    """
    origin = re.match(r"[a-z]+://[^/?#]*", template, re.IGNORECASE)
    if origin is None or "{{" in origin[0]:
        raise ToolCallFailed("The URL must begin with http:// or https:// and a host without variables.")
    url = _SLOT.sub(
        lambda slot: quote(sanitize_text(render_template(slot[0], context, max_filled=MAX_URL_LENGTH)), safe=""),
        template,
    )
    path = url[origin.end() :].partition("?")[0].partition("#")[0]
    if any(part in {".", ".."} for part in path.split("/")):
        raise ToolCallFailed("One of the values is not allowed in the URL.")
    return url


def resolve_arguments(
    config: HttpApiConfig,
    given: Mapping[str, Any],
    context: Mapping[str, Any],
    presets: Mapping[str, Any] | None = None,
) -> JsonObject:
    """Returns the tool's arguments: the model's, with the right types, overridden by the presets.

    ``presets`` replaces the values of presets (the test button). Raises ToolCallFailed, which names missing arguments.
    """
    arguments: JsonObject = {}
    for parameter in config.parameters:
        value = given.get(parameter.name)
        if value is None or value == "":
            if parameter.required:
                raise ToolCallFailed(f"The argument {parameter.name!r} is missing. {parameter.description}".strip())
            continue
        arguments[parameter.name] = coerce_argument(parameter.name, parameter.type, value)
    for preset in config.preset_parameters:
        filled = (presets or {}).get(preset.name)
        value = filled if filled is not None else render_template(preset.value_template, context)
        if value is None or value == "":
            if preset.required:
                raise ToolCallFailed(f"The value {preset.name!r} is not available in this call.")
            continue
        arguments[preset.name] = coerce_argument(preset.name, preset.type, value)
    return arguments


def coerce_argument(name: str, kind: ParameterType, value: Any) -> Any:
    """Converts a value to the requested type; models and templates often give numbers as text."""
    try:
        if kind == "string":
            return (
                sanitize_text(value) if isinstance(value, str) else json.dumps(sanitize_json(value), ensure_ascii=False)
            )
        if kind == "number":
            return _to_number(value)
        if kind == "boolean":
            return _to_boolean(value)
        found = json.loads(value) if isinstance(value, str) else value
        if isinstance(found, dict if kind == "object" else list):
            return sanitize_json(found)
    except (ValueError, TypeError, OverflowError, RecursionError):
        pass
    raise ToolCallFailed(f"The argument {name!r} must be of type {kind}.")


def _to_number(value: Any) -> int | float:
    if isinstance(value, bool):
        raise TypeError
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _to_boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    word = str(value).strip().lower()
    if word not in words:
        raise ValueError
    return words[word]


def build_request(
    config: HttpApiConfig, arguments: Mapping[str, Any], context: Mapping[str, Any], secret_headers: Mapping[str, str]
) -> HttpRequest:
    """Builds the request of one call, escaping every variable for its position; raises ToolCallFailed."""
    values = _TemplateValues(arguments, context)
    url = values.render_address(config.url)
    headers = {name: values.render_text(value) for name, value in config.headers.items()}
    try:
        for name, value in headers.items():
            check_header(name, value)
    except EgressError:
        raise ToolCallFailed("One of the values is not allowed in a header.") from None
    body: Any = None
    query: dict[str, str] = {}
    rest = {name: value for name, value in arguments.items() if name not in values.used_names}
    if config.body_template is not None:
        body = values.render_value(config.body_template)
    elif config.method in {"POST", "PUT", "PATCH"}:
        body = rest
    else:
        query = {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in rest.items()
        }
        if query:
            base, hash_, fragment = url.partition("#")
            url = f"{base}{'&' if '?' in base else '?'}{urlencode(query)}{hash_}{fragment}"
    try:
        # arguments are validated, the call's context is not
        body = sanitize_json(body)
    except ValueError:
        raise ToolCallFailed("The body is nested too deeply.") from None
    return HttpRequest(config.method, url, headers, dict(secret_headers), body, query)


async def send_request(egress: EgressClient, config: HttpApiConfig, request: HttpRequest) -> HttpResult:
    """Sends it within the tool's time limit and retries passing failures if the method allows; raises ToolCallFailed.

    A status of 400 and above is a result, so that the test button can show it.
    """
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + config.timeout_ms / 1000
    headers = {**request.headers, **request.secret_headers}
    content = None
    if request.body is not None:
        headers = {"Content-Type": "application/json", **headers}
        content = json.dumps(request.body, ensure_ascii=False, default=str).encode("utf-8", "replace")
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        may_repeat = attempt < _MAX_ATTEMPTS and request.method in _IDEMPOTENT and not config.has_side_effects
        left_s = max(0.001, ends_at - loop.time())
        try:
            answer = await egress.request(
                request.method,
                request.url,
                headers=headers,
                content=content,
                timeout_s=left_s,
                max_bytes=MAX_ANSWER_BYTES,
                media_types=_MEDIA,
            )
        except EgressError as error:
            if not (error.retryable and may_repeat and ends_at - loop.time() > _RETRY_PAUSE_S):
                raise ToolCallFailed(error.message) from error
        else:
            if not (answer.status in _RETRYABLE_STATUSES and may_repeat and ends_at - loop.time() > _RETRY_PAUSE_S):
                return HttpResult(answer.status, _map_answer(config, answer), answer.elapsed_ms)
        await asyncio.sleep(_RETRY_PAUSE_S)
    raise ToolCallFailed("The server could not be reached.")


def _map_answer(config: HttpApiConfig, answer: EgressResponse) -> Any:
    data = parse_answer(answer)
    if not answer.is_success:
        return _truncate_data(data, _MAX_ERROR_CHARS)
    if config.response_mapping and isinstance(data, dict | list):
        root = data if isinstance(data, dict) else {str(index): item for index, item in enumerate(data)}
        data = {name: lookup_path(root, path) for name, path in config.response_mapping.items()}
    return _truncate_data(data, MAX_RESULT_CHARS)


def parse_answer(answer: EgressResponse) -> Any:
    """Returns valid JSON, whatever its label, else text; None for an empty answer."""
    if not answer.content.strip():
        return None
    try:
        return sanitize_json(json.loads(answer.content))
    except (ValueError, RecursionError):
        return sanitize_text(answer.text)


def _truncate_data(data: Any, limit: int) -> Any:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    if len(text) <= limit:
        return data
    return {"truncated": True, "beginning": text[:limit]}


def describe_failure(result: HttpResult) -> str:
    """Describes an error status to the model."""
    body = result.data if isinstance(result.data, str) else json.dumps(result.data, ensure_ascii=False)
    return f"The service answered with status {result.status}" + (f": {body}" if result.data is not None else ".")
