"""Statements about the recordings of plays: results name them in their ``outcome``."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.scenarios.tables import PlayedScenarioResult, ScenarioPlay

_KEY = PlayedScenarioResult.outcome["recording_key"].astext


async def find_result(
    session: AsyncSession, organization_id: int, play_id: int, result_id: int
) -> PlayedScenarioResult | None:
    return await session.scalar(
        select(PlayedScenarioResult).where(
            PlayedScenarioResult.organization_id == organization_id,
            PlayedScenarioResult.play_id == play_id,
            PlayedScenarioResult.id == result_id,
        )
    )


async def list_keys_before(
    session: AsyncSession, organization_id: int, workflow_id: int | None, before: datetime
) -> list[str]:
    query = (
        select(_KEY)
        .join(ScenarioPlay, ScenarioPlay.id == PlayedScenarioResult.play_id)
        .where(
            PlayedScenarioResult.organization_id == organization_id,
            ScenarioPlay.created_at < before,
            _KEY.is_not(None),
        )
    )
    if workflow_id is not None:
        query = query.where(ScenarioPlay.workflow_id == workflow_id)
    return list((await session.scalars(query)).all())


async def forget_keys(session: AsyncSession, organization_id: int, keys: Collection[str]) -> None:
    """Removes recordings from their results, with their strips."""
    if keys:
        await session.execute(
            update(PlayedScenarioResult)
            .where(PlayedScenarioResult.organization_id == organization_id, _KEY.in_(keys))
            .values(outcome=PlayedScenarioResult.outcome.op("-")("recording_key").op("-")("strip"))
        )


async def find_existing_plays(session: AsyncSession, organization_id: int, play_ids: Collection[int]) -> set[int]:
    """Returns which of these plays there still are."""
    query = select(ScenarioPlay.id).where(
        ScenarioPlay.organization_id == organization_id, ScenarioPlay.id.in_(play_ids)
    )
    return set((await session.scalars(query)).all())
