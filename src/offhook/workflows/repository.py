"""The queries of workflows. Every read takes the organization except :func:`active_trigger`, which finds it."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, Literal, cast

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy import cast as cast_sql
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from offhook.kit.database.sql_json import (
    inline_literal,
    json_boolean,
    json_number,
    json_object,
    json_plain_text,
    json_text,
    json_time,
    rows_as_arrays,
)
from offhook.kit.filters.criteria import like_pattern
from offhook.workflows.tables import Workflow, WorkflowFolder, WorkflowTrigger, WorkflowVersion

MAX_ID: Final = 2**31 - 1
DELETED: Final = "deleted"

# The transaction's purpose: begin a run, change the workflow, or delete it. Runs can begin during a change, not during
# a deletion.
LockReason = Literal["run", "change", "delete"]


async def find_workflow(
    session: AsyncSession, organization_id: int, workflow_id: int, *, lock: LockReason | None = None
) -> Workflow | None:
    """Finds a workflow; None if it was deleted. With a ``lock``, waits for other holders and reads their changes."""
    query = select(Workflow).where(
        Workflow.id == workflow_id, Workflow.organization_id == organization_id, Workflow.status != DELETED
    )
    if lock:
        query = query.with_for_update(read=lock == "run", key_share=lock != "delete")
        query = query.execution_options(populate_existing=True)
    return (await session.execute(query)).scalar_one_or_none()


async def latest_versions(
    session: AsyncSession, organization_id: int, workflow_id: int
) -> tuple[WorkflowVersion | None, WorkflowVersion | None]:
    """Returns ``(draft, published)``."""
    rows = await session.scalars(
        select(WorkflowVersion)
        .where(
            WorkflowVersion.organization_id == organization_id,
            WorkflowVersion.workflow_id == workflow_id,
            WorkflowVersion.status.in_(("draft", "published")),
        )
        .execution_options(populate_existing=True)
    )
    found = {row.status: row for row in rows}
    return found.get("draft"), found.get("published")


async def draft_id(session: AsyncSession, organization_id: int, workflow_id: int) -> int | None:
    """Returns the current draft's id without a lock."""
    return await session.scalar(
        select(WorkflowVersion.id).where(
            WorkflowVersion.organization_id == organization_id,
            WorkflowVersion.workflow_id == workflow_id,
            WorkflowVersion.status == "draft",
        )
    )


async def version_by_id(session: AsyncSession, organization_id: int, version_id: int) -> WorkflowVersion | None:
    return (
        await session.execute(
            select(WorkflowVersion).where(
                WorkflowVersion.id == version_id, WorkflowVersion.organization_id == organization_id
            )
        )
    ).scalar_one_or_none()


async def version_by_number(
    session: AsyncSession, organization_id: int, workflow_id: int, number: int
) -> WorkflowVersion | None:
    return (
        await session.execute(
            select(WorkflowVersion).where(
                WorkflowVersion.organization_id == organization_id,
                WorkflowVersion.workflow_id == workflow_id,
                WorkflowVersion.version_number == number,
            )
        )
    ).scalar_one_or_none()


async def list_versions(
    session: AsyncSession, organization_id: int, workflow_id: int, *, limit: int | None, offset: int
) -> tuple[Sequence[WorkflowVersion], int]:
    """Returns versions, newest first, and the total count."""
    of_workflow = (WorkflowVersion.organization_id == organization_id, WorkflowVersion.workflow_id == workflow_id)
    query = select(WorkflowVersion).where(*of_workflow).order_by(WorkflowVersion.version_number.desc())
    rows = (await session.scalars(query.limit(limit).offset(offset))).all()
    total = await session.scalar(select(func.count()).select_from(WorkflowVersion).where(*of_workflow))
    return rows, total or 0


async def next_number(session: AsyncSession, organization_id: int, workflow_id: int) -> int:
    highest = await session.scalar(
        select(func.max(WorkflowVersion.version_number)).where(
            WorkflowVersion.organization_id == organization_id, WorkflowVersion.workflow_id == workflow_id
        )
    )
    return (highest or 0) + 1


async def list_as_json(
    session: AsyncSession, organization_id: int, statuses: Collection[str], *, limit: int | None, offset: int
) -> list[tuple[int, str]]:
    """Returns (id, JSON object), newest first, without definitions: id, name, status, folder_id, created_at,
    workflow_uuid, published_version_number, has_draft. JSON in one row, because converting 2,000 rows takes Python
    longer than the whole query.
    """
    found = await session.execute(
        _list_query(tuple(sorted(statuses))), {"organization_id": organization_id, "limit": limit, "offset": offset}
    )
    ids, texts = found.one()
    return list(zip(ids or (), texts or (), strict=True))


@cache
def _list_query(statuses: tuple[str, ...]) -> Select[Any]:
    """Builds the query once: building it takes as long as a small list."""
    # A join, not lookups: it finds the versions of 2,000 workflows faster.
    published = aliased(WorkflowVersion)
    draft = aliased(WorkflowVersion)
    shown = json_object(
        {
            "id": json_number(Workflow.id),
            "name": json_text(Workflow.name),
            "status": json_plain_text(Workflow.status),
            "folder_id": json_number(Workflow.folder_id),
            "created_at": json_time(Workflow.created_at),
            "workflow_uuid": json_plain_text(Workflow.workflow_uuid),
            "published_version_number": json_number(published.version_number),
            "has_draft": json_boolean(draft.id.is_not(None)),
        }
    )
    return rows_as_arrays(
        select(Workflow.id, shown.label("json"))
        .outerjoin(
            published, and_(published.workflow_id == Workflow.id, published.status == inline_literal("published"))
        )
        .outerjoin(draft, and_(draft.workflow_id == Workflow.id, draft.status == inline_literal("draft")))
        .where(*_list_conditions(bindparam("organization_id", type_=Integer()), statuses))
        .order_by(Workflow.id.desc())
        .limit(bindparam("limit", type_=Integer()))
        .offset(bindparam("offset", type_=Integer()))
    )


async def list_names(
    session: AsyncSession, organization_id: int, statuses: Collection[str], *, limit: int | None, offset: int
) -> Sequence[Row[int, str]]:
    query = (
        select(Workflow.id, Workflow.name)
        .where(*_list_conditions(organization_id, statuses))
        .order_by(Workflow.id.desc())
    )
    return (await session.execute(query.limit(limit).offset(offset))).all()


async def names_of(session: AsyncSession, organization_id: int, workflow_ids: Collection[int]) -> dict[int, str]:
    rows = await session.execute(
        select(Workflow.id, Workflow.name).where(
            Workflow.organization_id == organization_id, Workflow.id.in_(workflow_ids)
        )
    )
    return {row[0]: row[1] for row in rows}


async def names_with_text(session: AsyncSession, organization_id: int, text: str) -> list[str]:
    """Returns names of workflows whose draft or published version contains this text (a globally unique id)."""
    rows = await session.scalars(
        select(Workflow.name)
        .join(WorkflowVersion, WorkflowVersion.workflow_id == Workflow.id)
        .where(
            Workflow.organization_id == organization_id,
            Workflow.status != DELETED,
            WorkflowVersion.status.in_(("draft", "published")),
            cast_sql(WorkflowVersion.definition, Text).like(like_pattern(text)),
        )
        .distinct()
        .order_by(Workflow.name)
        .limit(5)
    )
    return list(rows)


async def count_by_status(session: AsyncSession, organization_id: int) -> dict[str, int]:
    """Counts workflows by status."""
    rows = await session.execute(
        select(Workflow.status, func.count())
        .where(Workflow.organization_id == organization_id)
        .group_by(Workflow.status)
    )
    return {row[0]: row[1] for row in rows}


def _list_conditions(organization_id: int | BindParameter[int], statuses: Collection[str]) -> list[ColumnElement[bool]]:
    is_asked = Workflow.status.in_(statuses) if statuses else Workflow.status != DELETED
    return [Workflow.organization_id == organization_id, is_asked]


async def lock_demo(session: AsyncSession, organization_id: int) -> None:
    """Locks the creation of this organization's demo until the end of the transaction."""
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtext("offhook.workflows.demo"), organization_id)))


async def has_workflow(session: AsyncSession, organization_id: int) -> bool:
    found = await session.scalar(select(Workflow.id).where(Workflow.organization_id == organization_id).limit(1))
    return found is not None


async def foreign_paths(
    session: AsyncSession, organization_id: int, workflow_id: int, paths: Collection[str]
) -> set[str]:
    """Returns the paths that belong to another workflow of any organization: paths are globally unique.

    ``organization_id`` is the asking one; the result reveals nothing about the owner.
    """
    rows = await session.scalars(
        select(WorkflowTrigger.path).where(
            WorkflowTrigger.path.in_(paths),
            ~((WorkflowTrigger.workflow_id == workflow_id) & (WorkflowTrigger.organization_id == organization_id)),
        )
    )
    return set(rows)


async def claim_paths(
    session: AsyncSession, organization_id: int, workflow_id: int, paths: Collection[str], *, active: Collection[str]
) -> None:
    """Claims the free ``paths`` for this workflow; afterwards exactly those in ``active`` answer."""
    for path in sorted(paths):  # in a fixed order, so that two publishers do not deadlock
        values = {"organization_id": organization_id, "workflow_id": workflow_id, "path": path}
        await session.execute(insert(WorkflowTrigger).values(**values).on_conflict_do_nothing(index_elements=["path"]))
    await session.execute(
        update(WorkflowTrigger)
        .where(WorkflowTrigger.workflow_id == workflow_id, WorkflowTrigger.organization_id == organization_id)
        .values(is_active=WorkflowTrigger.path.in_(active))
        .execution_options(synchronize_session=False)
    )


async def organization_of(session: AsyncSession, workflow_id: int) -> int | None:
    """Returns a workflow's organization. Takes none itself: an address given to a carrier names only the workflow."""
    return await session.scalar(
        select(Workflow.organization_id).where(Workflow.id == workflow_id, Workflow.status != DELETED)
    )


async def active_trigger(session: AsyncSession, path: str) -> tuple[int, int] | None:
    """Returns ``(organization_id, workflow_id)`` of the active workflow whose published version answers at this path.

    The one read without an organization: its caller has only a public address.
    """
    row = (
        await session.execute(
            select(WorkflowTrigger.organization_id, WorkflowTrigger.workflow_id)
            .join(Workflow, Workflow.id == WorkflowTrigger.workflow_id)
            .where(WorkflowTrigger.path == path, WorkflowTrigger.is_active, Workflow.status == "active")
        )
    ).one_or_none()
    return cast(tuple[int, int], tuple(row)) if row else None


async def mark_changed(session: AsyncSession, workflow: Workflow, at: datetime, *, revises: bool = False) -> None:
    """Records the time of a change; ``revises``: the content changed, so an editor's older copy is stale. The caller
    holds the lock for changes.
    """
    workflow.updated_at = at
    workflow.revision += revises
    await session.flush()


async def mark_deleted(session: AsyncSession, workflow: Workflow, organization_id: int) -> None:
    """Hides a workflow from every read and frees its triggers."""
    await session.execute(
        delete(WorkflowTrigger).where(
            WorkflowTrigger.workflow_id == workflow.id, WorkflowTrigger.organization_id == organization_id
        )
    )
    workflow.status, workflow.folder_id = DELETED, None
    await session.flush()


async def erase_workflow(session: AsyncSession, organization_id: int, workflow_id: int) -> None:
    """Deletes the remains of a deleted workflow; leaves every other workflow alone."""
    await session.execute(
        delete(Workflow).where(
            Workflow.id == workflow_id, Workflow.organization_id == organization_id, Workflow.status == DELETED
        )
    )


async def list_folders(
    session: AsyncSession, organization_id: int, *, limit: int | None, offset: int
) -> tuple[Sequence[Row[Any]], int]:
    """Returns ``id, name, created_at, workflow_count`` by name, and the total count."""
    in_organization = WorkflowFolder.organization_id == organization_id
    inside = select(func.count()).where(Workflow.folder_id == WorkflowFolder.id).scalar_subquery()
    query = select(
        WorkflowFolder.id, WorkflowFolder.name, WorkflowFolder.created_at, inside.label("workflow_count")
    ).where(in_organization)
    rows = await session.execute(query.order_by(WorkflowFolder.name, WorkflowFolder.id).limit(limit).offset(offset))
    total = await session.scalar(select(func.count()).select_from(WorkflowFolder).where(in_organization))
    return rows.all(), total or 0


async def folder_by_id(session: AsyncSession, organization_id: int, folder_id: int) -> WorkflowFolder | None:
    """Returns a folder, locked against deletion until the transaction ends."""
    query = select(WorkflowFolder).where(
        WorkflowFolder.id == folder_id, WorkflowFolder.organization_id == organization_id
    )
    query = query.with_for_update(read=True, key_share=True).execution_options(populate_existing=True)
    return (await session.execute(query)).scalar_one_or_none()


async def add_folder(session: AsyncSession, organization_id: int, name: str) -> WorkflowFolder | None:
    """Adds a folder; None when the name is taken."""
    row = insert(WorkflowFolder).values(organization_id=organization_id, name=name)
    return (await session.scalars(row.on_conflict_do_nothing().returning(WorkflowFolder))).one_or_none()


async def rename_folder(session: AsyncSession, organization_id: int, folder: WorkflowFolder, name: str) -> bool:
    """Renames a folder; returns False when the name is taken."""
    try:
        async with session.begin_nested():
            await session.execute(
                update(WorkflowFolder)
                .where(WorkflowFolder.id == folder.id, WorkflowFolder.organization_id == organization_id)
                .values(name=name)
            )
    except IntegrityError:
        return False
    return True


async def delete_folder(session: AsyncSession, organization_id: int, folder_id: int) -> str | None:
    """Deletes a folder; returns its name, None when there is no such folder."""
    gone = delete(WorkflowFolder).where(
        WorkflowFolder.id == folder_id, WorkflowFolder.organization_id == organization_id
    )
    return await session.scalar(gone.returning(WorkflowFolder.name))


async def workflows_in_folder(session: AsyncSession, organization_id: int, folder_id: int) -> int:
    found = await session.scalar(
        select(func.count()).where(Workflow.folder_id == folder_id, Workflow.organization_id == organization_id)
    )
    return found or 0


async def lock_versions_naming(session: AsyncSession, organization_id: int, reference: str) -> list[WorkflowVersion]:
    """Returns the versions with this text in quotes, including published and archived ones, locked."""
    columns = (WorkflowVersion.definition, WorkflowVersion.configurations)
    versions = await session.scalars(
        select(WorkflowVersion)
        .where(WorkflowVersion.organization_id == organization_id)
        .where(or_(*(cast_sql(column, Text).like(f'%"{reference}"%') for column in columns)))
        .order_by(WorkflowVersion.id)
        .with_for_update()
    )
    return list(versions)
