"""What a model is asked, as JSON without what differs between two plays of the same scenario. Pure."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from offhook.kit.json_values import JsonObject
from offhook.models.ports import LlmMessage, LlmRequest, ToolCall, ToolSpec


def describe_request(request: LlmRequest) -> JsonObject:
    """Returns a request as JSON that :func:`read_request` reads. Ids of tool calls, which vendors make up, are numbered."""
    numbers: dict[str, str] = {}

    def number_of(id_: str) -> str:
        return numbers.setdefault(id_, f"call_{len(numbers) + 1}")

    messages: list[Any] = []
    for message in request.messages:
        plain: JsonObject = {"role": message.role, "content": message.content}
        if message.tool_calls:
            plain["tool_calls"] = [
                {"id": number_of(call.id), "name": call.name, "arguments": call.arguments}
                for call in message.tool_calls
            ]
        if message.tool_call_id is not None:
            plain["tool_call_id"] = number_of(message.tool_call_id)
        messages.append(plain)
    tools: list[Any] = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in request.tools
    ]
    schema: Any = dict(request.response_schema) if request.response_schema is not None else None
    return {
        "messages": messages,
        "tools": tools,
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "response_schema": schema,
    }


def read_request(plain: Mapping[str, Any]) -> LlmRequest:
    """Returns the request that a vendor is asked."""
    return LlmRequest(
        messages=[
            LlmMessage(
                message["role"],
                message["content"],
                tuple(ToolCall(call["id"], call["name"], call["arguments"]) for call in message.get("tool_calls", ())),
                message.get("tool_call_id"),
            )
            for message in plain["messages"]
        ],
        tools=[ToolSpec(tool["name"], tool["description"], tool["parameters"]) for tool in plain["tools"]],
        temperature=plain["temperature"],
        max_tokens=plain["max_tokens"],
        response_schema=plain["response_schema"],
    )


def hash_request(model: JsonObject, request: JsonObject) -> str:
    """Returns the name under which the answer of a model is kept. ``model`` has no key and no address."""
    plain = json.dumps([model, request], sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
