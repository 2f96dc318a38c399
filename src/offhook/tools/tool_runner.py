"""Runs tools: for the test button, for the catalog of MCP servers and, through ``runs``, in calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from offhook.kit.crypto import Keyring
from offhook.kit.database.database import Database
from offhook.kit.egress import EgressClient, EgressError, EgressResponse, UrlInvalid
from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, write_audit_entry
from offhook.tools import http_api, mcp_tools, service
from offhook.tools.calculator import evaluate_expression
from offhook.tools.definitions import (
    CalculatorDefinition,
    HttpApiConfig,
    HttpApiDefinition,
    McpConfig,
    McpDefinition,
    ToolDefinition,
    read_definition,
)
from offhook.tools.errors import (
    CredentialHostRefused,
    CredentialUnknown,
    CredentialUnreadable,
    ToolArchived,
    ToolCallFailed,
    ToolNotMcp,
    ToolNotTestable,
)
from offhook.tools.http_api import HttpRequest, HttpResult
from offhook.tools.request_slots import RequestSlots

Testable = HttpApiDefinition | CalculatorDefinition | McpDefinition


@dataclass(frozen=True, slots=True)
class ToolTrial:
    """The result of one tool test; ``request`` is None if the tool sends none or failed before sending."""

    data: Any = None
    error: str | None = None
    status_code: int | None = None
    request: HttpRequest | None = None
    duration_ms: int = 0


class ToolRunner:
    """Runs tools. Each use opens its own short transactions; none is open during a request to another server."""

    def __init__(self, db: Database, egress: EgressClient, keyring: Keyring, slots: RequestSlots) -> None:
        self._db = db
        self._slots = slots
        self._egress = egress
        self._keyring = keyring

    async def credential_headers(self, organization_id: int, credential_uuid: str | None, url: str) -> dict[str, str]:
        """Returns a credential's headers for this address, empty without one; ToolCallFailed
        when gone or not allowed.
        """
        if not credential_uuid:
            return {}
        try:
            async with self._db.transaction() as session:
                return await service.credential_headers(session, self._keyring, organization_id, credential_uuid, url)
        except (CredentialUnknown, CredentialUnreadable, CredentialHostRefused, UrlInvalid) as error:
            raise ToolCallFailed(error.message) from error

    async def call_http(
        self, organization_id: int, config: HttpApiConfig, arguments: Mapping[str, Any], context: Mapping[str, Any]
    ) -> Any:
        """Calls an HTTP tool for an agent; returns its mapped answer. Raises ToolCallFailed with a model's sentence."""
        secret = await self.credential_headers(organization_id, config.credential_uuid, config.url)
        resolved = http_api.resolve_arguments(config, arguments, context)
        request = http_api.build_request(config, resolved, context, secret)
        async with self._slots.hold(organization_id, request.url):
            result = await http_api.send_request(self._egress, config, request)
        if not result.is_success:
            raise ToolCallFailed(http_api.describe_failure(result))
        return {"ok": True} if result.data is None else result.data

    async def call_mcp(self, organization_id: int, config: McpConfig, name: str, arguments: Mapping[str, Any]) -> Any:
        """Calls a tool of an MCP server for an agent; raises ToolCallFailed with a sentence for the model."""
        secret = await self.credential_headers(organization_id, config.credential_uuid, config.url)
        async with self._slots.hold(organization_id, config.url):
            return await mcp_tools.call_tool(self._egress, config, secret, name, arguments)

    async def send_request(
        self,
        organization_id: int,
        method: str,
        url: str,
        *,
        credential_uuid: str | None,
        headers: Mapping[str, str],
        content: bytes | None,
        timeout_s: float,
        max_bytes: int,
    ) -> EgressResponse:
        """Sends the platform's own request with a credential. Raises ToolCallFailed; ``retryable`` marks passing
        errors.
        """
        secret = await self.credential_headers(organization_id, credential_uuid, url)
        try:
            async with self._slots.hold(organization_id, url):
                return await self._egress.request(
                    method,
                    url,
                    headers={**headers, **secret},
                    content=content,
                    timeout_s=timeout_s,
                    max_bytes=max_bytes,
                )
        except EgressError as error:
            raise ToolCallFailed(error.message, retryable=error.retryable) from error

    async def with_catalog(self, caller: Caller, definition: ToolDefinition) -> ToolDefinition:
        """Adds the server's current catalog to an MCP definition if the server answers; returns others unchanged."""
        if isinstance(definition, McpDefinition):
            config = definition.config
            config.discovered_tools = []
            try:
                secret = await self.credential_headers(caller.organization_id, config.credential_uuid, config.url)
                async with self._slots.hold(caller.organization_id, config.url):
                    config.discovered_tools = await mcp_tools.read_catalog(self._egress, config, secret)
            except ToolCallFailed:
                return definition
        return definition

    async def refresh_catalog(self, caller: Caller, tool_uuid: str) -> tuple[list[JsonObject], str | None]:
        """Reads an MCP server's catalog again and stores it: ``(catalog, error)``. On an error the old one stays."""
        async with self._db.transaction() as session:
            tool = await service.get_tool(session, caller.organization_id, tool_uuid)
            if tool.status == service.ARCHIVED:
                raise ToolArchived
            definition = read_definition(tool.definition)
        if not isinstance(definition, McpDefinition):
            raise ToolNotMcp
        config = definition.config
        try:
            secret = await self.credential_headers(caller.organization_id, config.credential_uuid, config.url)
            async with self._slots.hold(caller.organization_id, config.url):
                catalog = await mcp_tools.read_catalog(self._egress, config, secret)
        except ToolCallFailed as error:
            return config.discovered_tools, str(error)
        async with self._db.transaction() as session:
            await service.store_catalog(session, caller, tool_uuid, catalog)
        return catalog, None

    async def try_out(
        self, caller: Caller, tool_uuid: str, arguments: Mapping[str, Any], presets: Mapping[str, Any]
    ) -> ToolTrial:
        """Runs a tool outside a call and records only that it was tried. Raises ToolNotTestable (422)."""
        async with self._db.transaction() as session:
            tool = await service.get_tool(session, caller.organization_id, tool_uuid)
            definition = _testable(read_definition(tool.definition))
            await write_audit_entry(session, caller, "tool.tested", f"tool:{tool.tool_uuid}")
        return await self._try_definition(caller.organization_id, definition, arguments, presets)

    async def try_draft(
        self, caller: Caller, draft: ToolDefinition, arguments: Mapping[str, Any], presets: Mapping[str, Any]
    ) -> ToolTrial:
        """:meth:`try_out` of a definition that is not stored, under the same rules for addresses and credentials."""
        definition = _testable(draft)
        async with self._db.transaction() as session:
            await write_audit_entry(session, caller, "tool.tested", "tool:draft", {"category": definition.type})
        return await self._try_definition(caller.organization_id, definition, arguments, presets)

    async def _try_definition(
        self,
        organization_id: int,
        definition: Testable,
        arguments: Mapping[str, Any],
        presets: Mapping[str, Any],
    ) -> ToolTrial:
        if isinstance(definition, HttpApiDefinition):
            return await self._try_http(organization_id, definition.config, arguments, presets)
        started = monotonic()
        try:
            if isinstance(definition, CalculatorDefinition):
                data: Any = {"result": evaluate_expression(str(arguments.get("expression") or ""))}
            else:
                name, given = arguments.get("tool_name"), arguments.get("arguments")
                data = await self.call_mcp(
                    organization_id, definition.config, str(name or ""), given if isinstance(given, dict) else {}
                )
        except ToolCallFailed as error:
            return ToolTrial(error=str(error), duration_ms=_elapsed_ms(started))
        return ToolTrial(data=data, duration_ms=_elapsed_ms(started))

    async def _try_http(
        self, organization_id: int, config: HttpApiConfig, arguments: Mapping[str, Any], presets: Mapping[str, Any]
    ) -> ToolTrial:
        started = monotonic()
        request: HttpRequest | None = None
        try:
            secret = await self.credential_headers(organization_id, config.credential_uuid, config.url)
            resolved = http_api.resolve_arguments(config, arguments, {}, presets)
            request = http_api.build_request(config, resolved, {}, secret)
            async with self._slots.hold(organization_id, request.url):
                result: HttpResult = await http_api.send_request(self._egress, config, request)
        except ToolCallFailed as error:
            return ToolTrial(error=str(error), request=request, duration_ms=_elapsed_ms(started))
        error_text = None if result.is_success else http_api.describe_failure(result)
        return ToolTrial(result.data, error_text, result.status, request, _elapsed_ms(started))


def _testable(definition: ToolDefinition) -> Testable:
    if not isinstance(definition, HttpApiDefinition | CalculatorDefinition | McpDefinition):
        raise ToolNotTestable
    return definition


def _elapsed_ms(started: float) -> int:
    return round((monotonic() - started) * 1000)
