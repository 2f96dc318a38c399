"""Rules by which the vendor refuses chat-completion requests, from its API reference. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_ROLES: Final = frozenset({"developer", "system", "user", "assistant", "tool"})
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KNOWN: Final = frozenset({
    "messages", "model", "stream", "stream_options", "temperature", "top_p", "n", "stop", "max_tokens",
    "max_completion_tokens", "tools", "tool_choice", "parallel_tool_calls", "response_format", "seed", "user",
    "presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "logit_bias", "reasoning_effort",
    "service_tier", "store", "metadata", "verbosity", "prompt_cache_key", "safety_identifier",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class RuleViolation:
    """A problem with a request, in the form of the vendor's error object."""

    param: str | None
    message: str
    code: str | None = None


def find_violation(body: Mapping[str, Any]) -> RuleViolation | None:
    """Returns the first problem that the vendor would answer with 400; None for a valid request."""
    return next(
        (
            found
            for rule in (_check_fields, _check_messages, _check_tools, _check_response_format)
            for found in rule(body)
        ),
        None,
    )


def _check_fields(body: Mapping[str, Any]) -> Iterator[RuleViolation]:
    for name in body:
        if name not in _KNOWN:
            yield RuleViolation(name, f"Unrecognized request argument supplied: {name}", "unknown_parameter")
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield RuleViolation("model", "you must provide a model parameter")
    if body.get("stream") is not True:
        yield RuleViolation("stream", "This server only streams.")
    if "max_tokens" in body and "max_completion_tokens" in body:
        yield RuleViolation(
            "max_tokens", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        )
    temperature = body.get("temperature", 1)
    if not isinstance(temperature, int | float) or not 0 <= temperature <= 2:
        yield RuleViolation("temperature", "Invalid 'temperature': expected a number from 0 to 2.")


def _check_messages(body: Mapping[str, Any]) -> Iterator[RuleViolation]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield RuleViolation("messages", "Invalid 'messages': expected an array with minimum length 1.", "empty_array")
        return
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in _ROLES:
            yield RuleViolation(f"{at}.role", f"Invalid value: {role!r}.", "invalid_value")
            return
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                text = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
                yield RuleViolation(at, f"Invalid parameter: {text}")
                return
            open_calls.remove(message["tool_call_id"])
        elif open_calls:
            break
        calls = message.get("tool_calls") or []
        yield from _check_content(at, message, calls)
        open_calls += [call.get("id") for call in calls]
    if open_calls:
        text = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
        yield RuleViolation("messages", f"{text} The following did not have response messages: {', '.join(open_calls)}")


def _check_content(at: str, message: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> Iterator[RuleViolation]:
    content = message.get("content")
    if content is None and not (message["role"] == "assistant" and calls):
        yield RuleViolation(f"{at}.content", "Invalid value for 'content': expected a string, got null.")
    for call in calls:
        function = call.get("function") or {}
        if call.get("type") != "function" or not isinstance(function.get("arguments"), str):
            yield RuleViolation(
                f"{at}.tool_calls", "Invalid type for 'tool_calls': expected a function with string arguments."
            )


def _check_tools(body: Mapping[str, Any]) -> Iterator[RuleViolation]:
    tools = body.get("tools")
    if tools is None:
        return
    if not isinstance(tools, list) or not tools:
        yield RuleViolation(
            "tools", "Invalid 'tools': empty array. Expected an array with minimum length 1.", "empty_array"
        )
        return
    for index, tool in enumerate(tools):
        name = (tool.get("function") or {}).get("name")
        if tool.get("type") != "function" or not isinstance(name, str) or not _NAME.fullmatch(name):
            yield RuleViolation(
                f"tools[{index}].function.name", "Invalid name: expected ^[a-zA-Z0-9_-]+$.", "invalid_value"
            )


def _check_response_format(body: Mapping[str, Any]) -> Iterator[RuleViolation]:
    wanted = body.get("response_format")
    if wanted is None:
        return
    kind = wanted.get("type")
    if kind not in ("text", "json_object", "json_schema"):
        yield RuleViolation("response_format.type", f"Invalid value: {kind!r}.", "invalid_value")
    if kind == "json_object" and "json" not in str(body.get("messages")).lower():
        yield RuleViolation("messages", "'messages' must contain the word 'json' in some form, to use 'json_object'.")
    if kind == "json_schema":
        described = wanted.get("json_schema") or {}
        schema = described.get("schema") or {}
        if not described.get("name"):
            yield RuleViolation(
                "response_format.json_schema.name", "Missing required parameter.", "missing_required_parameter"
            )
        elif described.get("strict") and (
            schema.get("additionalProperties") is not False
            or sorted(schema.get("required") or ()) != sorted(schema.get("properties") or ())
        ):
            text = "'additionalProperties' must be false and 'required' must name every property."
            yield RuleViolation("response_format", f"Invalid schema for response_format: {text}")
