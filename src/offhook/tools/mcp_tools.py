"""Tools of an MCP server: its catalog and its calls, through the official SDK and the guarded client."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any, Final

import httpx2

from offhook.kit.egress import EgressClient, EgressError
from offhook.kit.json_values import JsonObject, sanitize_json, sanitize_text
from offhook.tools.definitions import McpConfig
from offhook.tools.errors import ToolCallFailed

MAX_ANSWER_BYTES: Final = 1_000_000
MAX_TOOLS: Final = 128
MAX_SCHEMA_CHARS: Final = 20_000
MAX_RESULT_CHARS: Final = 12_000
CATALOG_TIMEOUT_S: Final = 15.0


async def read_catalog(egress: EgressClient, config: McpConfig, headers: Mapping[str, str]) -> list[JsonObject]:
    """Returns ``[{name, description, parameters}]`` of the server's tools; raises ToolCallFailed."""
    found: list[JsonObject] = []
    async with _connect_client(egress, config, headers, min(CATALOG_TIMEOUT_S, _timeout_s(config))) as client:
        cursor = None
        while len(found) < MAX_TOOLS:
            page = await client.list_tools(cursor=cursor)
            found += [entry for tool in page.tools if (entry := _catalog_entry(tool)) is not None]
            cursor = page.next_cursor
            if not cursor:
                break
    return found[:MAX_TOOLS]


async def call_tool(
    egress: EgressClient, config: McpConfig, headers: Mapping[str, str], name: str, arguments: Mapping[str, Any]
) -> Any:
    """Calls one tool of the server and returns plain JSON. Raises ToolCallFailed, also for the server's own errors."""
    async with _connect_client(egress, config, headers, _timeout_s(config)) as client:
        result = await client.call_tool(name, dict(arguments))
    texts = [block.text for block in result.content if getattr(block, "type", "") == "text"]
    text = sanitize_text("\n".join(texts)[:MAX_RESULT_CHARS])
    if result.is_error:
        raise ToolCallFailed(text or "The tool failed without saying why.")
    structured = result.structured_content
    if structured is not None and len(str(structured)) <= MAX_RESULT_CHARS:
        with suppress(ValueError):  # nested too deeply: the text says the same
            return sanitize_json(structured)
    return text or {"ok": True}


def _timeout_s(config: McpConfig) -> float:
    return float(config.timeout_secs or 30)


@asynccontextmanager
async def _connect_client(
    egress: EgressClient, config: McpConfig, headers: Mapping[str, str], timeout_s: float
) -> AsyncIterator[Any]:
    # 1.4 s and 25 MB: loaded by the first call that needs it, off the loop that carries audio
    sdk = await asyncio.to_thread(import_module, "mcp")
    transport = await asyncio.to_thread(import_module, "mcp.client.streamable_http")
    try:
        async with (
            asyncio.timeout(timeout_s),
            egress.vendor_client(timeout_s, headers=headers, max_bytes=MAX_ANSWER_BYTES, keeps_cookies=True) as http,
        ):
            await egress.check_url(config.url)
            wire = transport.streamable_http_client(config.url, http_client=http)
            async with sdk.Client(wire, read_timeout_seconds=timeout_s) as client:
                client.session.validate_tool_result = _take_as_it_is
                yield client
    except ToolCallFailed:
        raise
    except EgressError as error:
        raise ToolCallFailed(error.message) from error
    except Exception as raised:  # vendor boundary: the SDK raises groups of any exceptions
        first = _first_error(raised)
        if isinstance(first, TimeoutError | httpx2.TimeoutException):
            # the client's own time is as long as ours, and may end first
            raise ToolCallFailed(f"The MCP server did not respond within {timeout_s:g} s.") from raised
        raise ToolCallFailed(f"The MCP server failed: {_error_reason(first)}") from raised


async def _take_as_it_is(_name: str, _result: Any) -> None:
    """In place of the SDK's check of an answer: it runs patterns of the server's schema, which can take for ever, on
    the loop of all calls."""


def _first_error(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _error_reason(error: BaseException) -> str:
    """Returns one sentence for an error of the SDK."""
    message = sanitize_text(str(getattr(error, "message", None) or error) or type(error).__name__)
    # the SDK validates each message against all kinds: pages of errors about irrelevant ones
    return (
        "it does not answer as MCP servers do." if "validation error" in message else message.partition("\n")[0][:300]
    )


def _catalog_entry(tool: Any) -> JsonObject | None:
    """Returns the stored form of a tool; None for a schema that no model accepts."""
    schema = tool.input_schema
    if not isinstance(schema, dict) or len(str(schema)) > MAX_SCHEMA_CHARS or not tool.name:
        return None
    try:
        return sanitize_json(  # type: ignore[no-any-return]
            {"name": tool.name[:128], "description": (tool.description or "")[:2000], "parameters": schema}
        )
    except ValueError:
        return None
