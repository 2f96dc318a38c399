"""The rules of workflow folders."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import Caller, write_audit_entry
from offhook.workflows import repository
from offhook.workflows.errors import FolderNameTaken, FolderNotFound
from offhook.workflows.repository import MAX_ID
from offhook.workflows.tables import WorkflowFolder


async def list_folders(
    session: AsyncSession, organization_id: int, *, limit: int | None, offset: int
) -> tuple[Sequence[Row[Any]], int]:
    """Returns folders by name, each with its number of workflows, and the total count."""
    return await repository.list_folders(session, organization_id, limit=limit, offset=offset)


async def create_folder(session: AsyncSession, caller: Caller, name: str) -> WorkflowFolder:
    """Creates a folder; raises FolderNameTaken (409)."""
    folder = await repository.add_folder(session, caller.organization_id, name)
    if folder is None:
        raise FolderNameTaken
    await write_audit_entry(session, caller, "folder.created", f"folder:{folder.id}", {"name": name})
    return folder


async def rename_folder(session: AsyncSession, caller: Caller, folder_id: int, name: str) -> WorkflowFolder:
    """Renames a folder; raises FolderNotFound (404) and FolderNameTaken (409)."""
    folder = await get_folder(session, caller.organization_id, folder_id)
    if not await repository.rename_folder(session, caller.organization_id, folder, name):
        raise FolderNameTaken
    await write_audit_entry(session, caller, "folder.renamed", f"folder:{folder_id}", {"name": name})
    return folder


async def delete_folder(session: AsyncSession, caller: Caller, folder_id: int) -> None:
    """Deletes a folder and keeps its workflows; raises FolderNotFound (404)."""
    name = await repository.delete_folder(session, caller.organization_id, folder_id) if folder_id <= MAX_ID else None
    if name is None:
        raise FolderNotFound
    await write_audit_entry(session, caller, "folder.deleted", f"folder:{folder_id}", {"name": name})


async def get_folder(session: AsyncSession, organization_id: int, folder_id: int) -> WorkflowFolder:
    """Returns a folder; raises FolderNotFound (404)."""
    folder = None
    if 0 < folder_id <= MAX_ID:
        folder = await repository.folder_by_id(session, organization_id, folder_id)
    if folder is None:
        raise FolderNotFound
    return folder


async def workflow_count(session: AsyncSession, organization_id: int, folder_id: int) -> int:
    return await repository.workflows_in_folder(session, organization_id, folder_id)
