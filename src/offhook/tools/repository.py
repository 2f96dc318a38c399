"""The queries for tools and credentials."""

import uuid
from collections.abc import Collection, Sequence

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.tools.tables import Credential, Tool


def parse_uuid(text: str) -> uuid.UUID | None:
    """Parses a UUID; None for other text: ids come from paths and definitions."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


async def find_tool(
    session: AsyncSession, organization_id: int, tool_uuid: str, *, for_update: bool = False
) -> Tool | None:
    wanted = parse_uuid(tool_uuid)
    if wanted is None:
        return None
    query = select(Tool).where(Tool.organization_id == organization_id, Tool.tool_uuid == wanted)
    if for_update:
        query = query.with_for_update().execution_options(populate_existing=True)
    return (await session.execute(query)).scalar_one_or_none()


async def find_active_tool(session: AsyncSession, organization_id: int, name: str, category: str) -> Tool | None:
    """Returns the newest active tool of this name and category."""
    query = select(Tool).where(
        Tool.organization_id == organization_id, Tool.name == name, Tool.category == category, Tool.status == "active"
    )
    return (await session.scalars(query.order_by(Tool.id.desc()).limit(1))).one_or_none()


async def list_tools(
    session: AsyncSession,
    organization_id: int,
    *,
    statuses: Collection[str] = (),
    category: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> tuple[Sequence[Tool], int]:
    """Returns tools, newest first, and the total count."""
    conditions = [Tool.organization_id == organization_id]
    if statuses:
        conditions.append(Tool.status.in_(statuses))
    if category:
        conditions.append(Tool.category == category)
    rows = (
        await session.scalars(select(Tool).where(*conditions).order_by(Tool.id.desc()).limit(limit).offset(offset))
    ).all()
    total = await session.scalar(select(func.count()).select_from(Tool).where(*conditions))
    return rows, total or 0


async def named_tools(session: AsyncSession, organization_id: int, tool_uuids: Collection[str]) -> Sequence[Tool]:
    """Returns the tools of the organization among the ids, in any status."""
    wanted = [found for text in tool_uuids if (found := parse_uuid(text)) is not None]
    if not wanted:
        return []
    return (
        await session.scalars(select(Tool).where(Tool.organization_id == organization_id, Tool.tool_uuid.in_(wanted)))
    ).all()


async def find_credential(
    session: AsyncSession, organization_id: int, credential_uuid: str, *, for_update: bool = False
) -> Credential | None:
    wanted = parse_uuid(credential_uuid)
    if wanted is None:
        return None
    query = select(Credential).where(
        Credential.organization_id == organization_id, Credential.credential_uuid == wanted
    )
    if for_update:
        query = query.with_for_update().execution_options(populate_existing=True)
    return (await session.execute(query)).scalar_one_or_none()


async def named_credentials(
    session: AsyncSession, organization_id: int, credential_uuids: Collection[str]
) -> Sequence[Credential]:
    """Returns the credentials of the organization among the ids."""
    wanted = [found for text in credential_uuids if (found := parse_uuid(text)) is not None]
    in_organization = Credential.organization_id == organization_id
    return (
        await session.scalars(select(Credential).where(in_organization, Credential.credential_uuid.in_(wanted)))
    ).all()


async def credentials_of_names(
    session: AsyncSession, organization_id: int, names: Collection[str]
) -> Sequence[Credential]:
    in_organization = Credential.organization_id == organization_id
    return (await session.scalars(select(Credential).where(in_organization, Credential.name.in_(names)))).all()


async def list_credentials(
    session: AsyncSession, organization_id: int, *, limit: int | None, offset: int
) -> tuple[Sequence[Credential], int]:
    """Returns credentials by name, and the total count."""
    in_organization = Credential.organization_id == organization_id
    query = (
        select(Credential).where(in_organization).order_by(Credential.name, Credential.id).limit(limit).offset(offset)
    )
    rows = (await session.scalars(query)).all()
    total = await session.scalar(select(func.count()).select_from(Credential).where(in_organization))
    return rows, total or 0


async def name_is_taken(session: AsyncSession, organization_id: int, name: str, except_id: int | None = None) -> bool:
    query = select(Credential.id).where(Credential.organization_id == organization_id, Credential.name == name)
    if except_id is not None:
        query = query.where(Credential.id != except_id)
    return (await session.execute(query.limit(1))).first() is not None


async def tools_with_credential(session: AsyncSession, organization_id: int, credential_uuid: str) -> list[str]:
    """Returns names of the tools that are not archived and send this credential."""
    rows = await session.scalars(
        select(Tool.name).where(
            Tool.organization_id == organization_id,
            Tool.status != "archived",
            Tool.definition["config"]["credential_uuid"].astext == credential_uuid,
        )
    )
    return list(rows)
