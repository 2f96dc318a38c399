"""The rules of tools and credentials."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import Forbidden
from offhook.kit.crypto import Keyring
from offhook.kit.database.database_clock import time_of
from offhook.kit.json_values import JsonObject
from offhook.orgs import ADMINS, Caller, skip_audit_entry, write_audit_entry
from offhook.tools import repository
from offhook.tools.credentials import open_headers, read_data, seal_data
from offhook.tools.definitions import HttpApiDefinition, McpDefinition, ToolDefinition, credential_of
from offhook.tools.errors import (
    CategoryImmutable,
    CredentialHostRefused,
    CredentialInUse,
    CredentialNameTaken,
    CredentialNotFound,
    CredentialUnknown,
    ToolNotFound,
)
from offhook.tools.hosts import host_of, is_host_allowed
from offhook.tools.ports import ReferenceFinder
from offhook.tools.tables import Credential, Tool

ACTIVE = "active"
ARCHIVED = "archived"


async def get_tool(session: AsyncSession, organization_id: int, tool_uuid: str, *, for_update: bool = False) -> Tool:
    found = await repository.find_tool(session, organization_id, tool_uuid, for_update=for_update)
    if found is None:
        raise ToolNotFound
    return found


async def create_tool(
    session: AsyncSession, caller: Caller, values: Mapping[str, Any], definition: ToolDefinition
) -> Tool:
    """Creates a tool; ``values``: name, description, icon, icon_color. Raises CredentialUnknown (422)."""
    await _check_credential(session, caller.organization_id, definition)
    tool = Tool(
        organization_id=caller.organization_id,
        category=definition.type,
        definition=definition.model_dump(mode="json"),
        created_by=caller.user_id,
        **values,
    )
    session.add(tool)
    await session.flush()
    await session.refresh(tool)
    await write_audit_entry(session, caller, "tool.created", f"tool:{tool.tool_uuid}", {"category": tool.category})
    return tool


async def find_or_create_tool(
    session: AsyncSession, caller: Caller, values: Mapping[str, Any], definition: ToolDefinition
) -> Tool:
    """Returns the active tool of this name and category, whatever its configuration is by now, or creates it."""
    found = await repository.find_active_tool(session, caller.organization_id, str(values["name"]), definition.type)
    return found or await create_tool(session, caller, values, definition)


async def find_tool_named(session: AsyncSession, organization_id: int, name: str, category: str) -> Tool | None:
    """Returns the newest active tool of this name and category."""
    return await repository.find_active_tool(session, organization_id, name, category)


async def update_tool(
    session: AsyncSession,
    caller: Caller,
    tool_uuid: str,
    values: Mapping[str, Any],
    definition: ToolDefinition | None,
) -> Tool:
    """Updates fields except the category, to which agents refer. Raises CredentialUnknown (422), ToolNotFound."""
    tool = await get_tool(session, caller.organization_id, tool_uuid, for_update=True)
    if definition is not None:
        if definition.type != tool.category:
            raise CategoryImmutable
        await _check_credential(session, caller.organization_id, definition)
        if isinstance(definition, McpDefinition):
            # a server's catalog comes only from the server itself
            kept = tool.definition.get("config", {})
            is_same = kept.get("url") == definition.config.url
            definition.config.discovered_tools = kept.get("discovered_tools", []) if is_same else []
        tool.definition = definition.model_dump(mode="json")
    for name, value in values.items():
        setattr(tool, name, value)
    if not session.is_modified(tool):
        skip_audit_entry(session)
        return tool
    tool.updated_at = time_of(session)
    await session.flush()
    changed = sorted([*values, *(["definition"] if definition is not None else [])])
    await write_audit_entry(session, caller, "tool.updated", f"tool:{tool.tool_uuid}", {"changed": changed})
    return tool


async def set_archived(session: AsyncSession, caller: Caller, tool_uuid: str, *, is_archived: bool) -> Tool:
    """Archives or restores a tool; idempotent. Agents that name an archived tool are no longer offered it."""
    tool = await get_tool(session, caller.organization_id, tool_uuid, for_update=True)
    if (tool.status == ARCHIVED) != is_archived:
        tool.status = ARCHIVED if is_archived else ACTIVE
        tool.updated_at = time_of(session)
        await session.flush()
        action = "tool.archived" if is_archived else "tool.unarchived"
        await write_audit_entry(session, caller, action, f"tool:{tool.tool_uuid}")
    else:
        skip_audit_entry(session)
    return tool


async def store_catalog(session: AsyncSession, caller: Caller, tool_uuid: str, catalog: Sequence[JsonObject]) -> None:
    """Stores an MCP server's catalog."""
    tool = await get_tool(session, caller.organization_id, tool_uuid, for_update=True)
    config = {**tool.definition.get("config", {}), "discovered_tools": list(catalog)}
    tool.definition = {**tool.definition, "config": config}
    await session.flush()
    await write_audit_entry(session, caller, "tool.refreshed", f"tool:{tool.tool_uuid}", {"count": len(catalog)})


async def named_tools(session: AsyncSession, organization_id: int, tool_uuids: Collection[str]) -> Sequence[Tool]:
    """Returns the organization's tools among the ids, including archived ones."""
    return await repository.named_tools(session, organization_id, tool_uuids)


async def _check_credential(session: AsyncSession, organization_id: int, definition: ToolDefinition) -> None:
    wanted = credential_of(definition)
    if wanted is not None and isinstance(definition, HttpApiDefinition | McpDefinition):
        await credential_for(session, organization_id, wanted, definition.config.url)


# -- credentials ----------------------------------------------------------------------------------------------------------


async def get_credential(session: AsyncSession, organization_id: int, credential_uuid: str) -> Credential:
    found = await repository.find_credential(session, organization_id, credential_uuid)
    if found is None:
        raise CredentialNotFound
    return found


async def credential_names(
    session: AsyncSession, organization_id: int, credential_uuids: Collection[str]
) -> dict[str, str]:
    """Returns names by id; unknown ids are left out."""
    rows = await repository.named_credentials(session, organization_id, credential_uuids)
    return {str(row.credential_uuid): row.name for row in rows}


@dataclass(frozen=True, slots=True)
class CredentialFacts:
    """A credential as other domains see it. ``allowed_hosts`` is empty before its first use."""

    uuid: str
    allowed_hosts: tuple[str, ...]


async def credentials_named(
    session: AsyncSession, organization_id: int, names: Collection[str]
) -> dict[str, CredentialFacts]:
    """Returns the credentials of these names; unknown names are left out."""
    rows = await repository.credentials_of_names(session, organization_id, names)
    return {row.name: CredentialFacts(str(row.credential_uuid), tuple(row.allowed_hosts or ())) for row in rows}


async def create_credential(
    session: AsyncSession,
    keyring: Keyring,
    caller: Caller,
    values: Mapping[str, Any],
    data: Mapping[str, Any],
) -> Credential:
    """Creates a credential; ``values``: name, description, credential_type, allowed_hosts. Raises CredentialNameTaken
    (409), CredentialDataInvalid (422).
    """
    read = read_data(values["credential_type"], data)
    await _check_name(session, caller.organization_id, values["name"])
    credential = Credential(
        organization_id=caller.organization_id,
        sealed=seal_data(keyring, caller.organization_id, read),
        created_by=caller.user_id,
        **values,
    )
    session.add(credential)
    await _flush_named(session)
    await session.refresh(credential)
    await write_audit_entry(session, caller, "credential.created", f"credential:{credential.credential_uuid}")
    return credential


async def update_credential(
    session: AsyncSession,
    keyring: Keyring,
    caller: Caller,
    credential_uuid: str,
    values: Mapping[str, Any],
    data: Mapping[str, Any] | None,
) -> Credential:
    """Updates a credential. A new type needs new data; without data the secret stays, and only an admin may change its
    hosts.

    Raises the errors of :func:`create_credential`, and Forbidden.
    """
    if "allowed_hosts" in values and data is None and caller.role not in ADMINS:
        raise Forbidden("Only admins can change the allowed hosts without re-entering the secret.")
    credential = await repository.find_credential(session, caller.organization_id, credential_uuid, for_update=True)
    if credential is None:
        raise CredentialNotFound
    kind = values.get("credential_type", credential.credential_type)
    if data is not None or kind != credential.credential_type:
        credential.sealed = seal_data(keyring, caller.organization_id, read_data(kind, data or {}))
    if "name" in values:
        await _check_name(session, caller.organization_id, values["name"], credential.id)
    for name, value in values.items():
        setattr(credential, name, value)
    if not session.is_modified(credential):
        skip_audit_entry(session)
        return credential
    credential.updated_at = time_of(session)
    await _flush_named(session)
    changed = sorted([*values, *(["credential_data"] if data is not None else [])])
    await write_audit_entry(
        session, caller, "credential.updated", f"credential:{credential_uuid}", {"changed": changed}
    )
    return credential


async def delete_credential(
    session: AsyncSession, find_references: ReferenceFinder, caller: Caller, credential_uuid: str
) -> Credential:
    """Deletes a credential. Raises CredentialInUse (409) while an unarchived tool or an agent's draft or published
    version uses it.
    """
    credential = await repository.find_credential(session, caller.organization_id, credential_uuid, for_update=True)
    if credential is None:
        raise CredentialNotFound
    uuid = str(credential.credential_uuid)
    tools = await repository.tools_with_credential(session, caller.organization_id, uuid)
    agents = await find_references(session, caller.organization_id, uuid)
    if tools or agents:
        users = ", ".join([*(f"the tool “{name}”" for name in tools), *(f"the agent “{name}”" for name in agents)][:5])
        raise CredentialInUse(f"This credential is used by {users}.")
    await session.delete(credential)
    await session.flush()
    await write_audit_entry(session, caller, "credential.deleted", f"credential:{uuid}", {"name": credential.name})
    return credential


async def credential_for(session: AsyncSession, organization_id: int, credential_uuid: str, url: str) -> Credential:
    """Returns a credential for this address and binds one without hosts to this host.

    Raises CredentialUnknown and CredentialHostRefused (422), UrlInvalid.
    """
    found = await repository.find_credential(session, organization_id, credential_uuid)
    if found is None:
        raise CredentialUnknown
    host = host_of(url)
    if found.allowed_hosts is None:
        found = await repository.find_credential(session, organization_id, credential_uuid, for_update=True)
        if found is None:
            raise CredentialUnknown
        if found.allowed_hosts is None:
            found.allowed_hosts = [host]
            await session.flush()
    if not is_host_allowed(found.allowed_hosts, host):
        raise CredentialHostRefused(
            f"The credential “{found.name}” may not be sent to {host}: its allowed_hosts are "
            f"{', '.join(found.allowed_hosts) or 'none'}. Enter its secret again to add this host, or ask an admin."
        )
    return found


async def credential_headers(
    session: AsyncSession, keyring: Keyring, organization_id: int, credential_uuid: str | None, url: str
) -> dict[str, str]:
    """Returns a credential's headers for this address, empty without a credential.

    Raises CredentialUnreadable (409) and the errors of :func:`credential_for`.
    """
    if not credential_uuid:
        return {}
    found = await credential_for(session, organization_id, credential_uuid, url)
    return open_headers(keyring, organization_id, found.sealed)


async def _check_name(session: AsyncSession, organization_id: int, name: str, except_id: int | None = None) -> None:
    if await repository.name_is_taken(session, organization_id, name, except_id):
        raise CredentialNameTaken


async def _flush_named(session: AsyncSession) -> None:
    try:
        async with session.begin_nested():
            await session.flush()
    except IntegrityError as error:  # the name was taken concurrently
        raise CredentialNameTaken from error
