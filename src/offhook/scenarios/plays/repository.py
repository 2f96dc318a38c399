"""The rows of plays and their results."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, delete, func, select, update
from sqlalchemy.dialects.postgresql import distinct_on, insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.scenarios.tables import PlayedScenarioResult, ScenarioPlay

OPEN: Final = ("queued", "running")


async def find_play(
    session: AsyncSession,
    organization_id: int,
    play_id: int,
    *,
    workflow_id: int | None = None,
    for_update: bool = False,
) -> ScenarioPlay | None:
    query = select(ScenarioPlay).where(ScenarioPlay.id == play_id, ScenarioPlay.organization_id == organization_id)
    if workflow_id is not None:
        query = query.where(ScenarioPlay.workflow_id == workflow_id)
    if for_update:
        query = query.with_for_update().execution_options(populate_existing=True)
    return (await session.execute(query)).scalar_one_or_none()


async def count_open(session: AsyncSession, organization_id: int) -> int:
    found = await session.scalar(
        select(func.count()).where(ScenarioPlay.organization_id == organization_id, ScenarioPlay.state.in_(OPEN))
    )
    return found or 0


async def list_plays(
    session: AsyncSession, organization_id: int, workflow_id: int, *, limit: int | None, offset: int
) -> tuple[Sequence[ScenarioPlay], int]:
    """Returns plays, newest first, and the total count."""
    of_workflow = (ScenarioPlay.organization_id == organization_id, ScenarioPlay.workflow_id == workflow_id)
    query = select(ScenarioPlay).where(*of_workflow).order_by(ScenarioPlay.id.desc())
    rows = (await session.scalars(query.limit(limit).offset(offset))).all()
    return rows, await session.scalar(select(func.count()).select_from(ScenarioPlay).where(*of_workflow)) or 0


async def latest_verdict(
    session: AsyncSession, organization_id: int, workflow_id: int, content_hash: str
) -> ScenarioPlay | None:
    """Returns the newest play with a verdict about exactly this content."""
    return await session.scalar(
        select(ScenarioPlay)
        .where(
            ScenarioPlay.organization_id == organization_id,
            ScenarioPlay.workflow_id == workflow_id,
            ScenarioPlay.content_hash == content_hash,
            ScenarioPlay.state.in_(("passed", "failed")),
            ScenarioPlay.verdict.is_not(None),
        )
        .order_by(ScenarioPlay.id.desc())
        .limit(1)
    )


async def list_results(session: AsyncSession, organization_id: int, play_id: int) -> Sequence[PlayedScenarioResult]:
    """Returns the results of a play in the order in which they came."""
    rows = await session.scalars(
        select(PlayedScenarioResult)
        .where(PlayedScenarioResult.organization_id == organization_id, PlayedScenarioResult.play_id == play_id)
        .order_by(PlayedScenarioResult.id)
    )
    return rows.all()


async def list_latest_results(
    session: AsyncSession, organization_id: int, workflow_id: int, *, max_versions: int
) -> Sequence[Row[ScenarioPlay, PlayedScenarioResult]]:
    """Returns, for the newest versions that were played, the last result of each scenario with its play: one that fails
    before those of other seeds."""
    of_workflow = (ScenarioPlay.organization_id == organization_id, ScenarioPlay.workflow_id == workflow_id)
    played = select(ScenarioPlay.version_number).where(*of_workflow).distinct()
    newest = played.order_by(ScenarioPlay.version_number.desc()).limit(max_versions)
    cell = (ScenarioPlay.version_number.desc(), PlayedScenarioResult.name)
    rows = await session.execute(
        select(ScenarioPlay, PlayedScenarioResult)
        .join(PlayedScenarioResult, PlayedScenarioResult.play_id == ScenarioPlay.id)
        .where(
            *of_workflow,
            PlayedScenarioResult.organization_id == organization_id,
            ScenarioPlay.version_number.in_(newest),
        )
        .ext(distinct_on(ScenarioPlay.version_number, PlayedScenarioResult.name))
        .order_by(*cell, ScenarioPlay.id.desc(), PlayedScenarioResult.has_passed, PlayedScenarioResult.seed)
    )
    return rows.all()


async def add_results(
    session: AsyncSession, organization_id: int, play_id: int, rows: Collection[Mapping[str, Any]]
) -> None:
    """Adds results; those that an earlier attempt of the job has added stay."""
    if rows:
        values = [{**row, "organization_id": organization_id, "play_id": play_id} for row in rows]
        await session.execute(insert(PlayedScenarioResult).values(values).on_conflict_do_nothing())


async def forget_results(session: AsyncSession, organization_id: int, play_id: int) -> None:
    await session.execute(
        delete(PlayedScenarioResult).where(
            PlayedScenarioResult.organization_id == organization_id, PlayedScenarioResult.play_id == play_id
        )
    )


async def end_play(
    session: AsyncSession, organization_id: int, play_id: int, values: Mapping[str, Any], at: datetime
) -> bool:
    """Stores the end of a play that runs; False if it was canceled in the meantime."""
    ended = await session.execute(
        update(ScenarioPlay)
        .where(
            ScenarioPlay.id == play_id, ScenarioPlay.organization_id == organization_id, ScenarioPlay.state.in_(OPEN)
        )
        .values(**values, finished_at=at)
        .returning(ScenarioPlay.id)
    )
    return ended.first() is not None


async def forget_old_plays(session: AsyncSession, organization_id: int, workflow_id: int, *, kept: int) -> None:
    """Deletes all but the newest plays of an agent, with their results."""
    newest = (
        select(ScenarioPlay.id)
        .where(ScenarioPlay.organization_id == organization_id, ScenarioPlay.workflow_id == workflow_id)
        .order_by(ScenarioPlay.id.desc())
        .limit(kept)
    )
    await session.execute(
        delete(ScenarioPlay).where(
            ScenarioPlay.organization_id == organization_id,
            ScenarioPlay.workflow_id == workflow_id,
            ScenarioPlay.state.not_in(OPEN),
            ScenarioPlay.id.not_in(newest),
        )
    )
