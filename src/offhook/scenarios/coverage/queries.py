"""Reads the paths of the last results of an agent's scenarios."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.scenarios.tables import PlayedScenarioResult, ScenarioPlay


async def list_latest_paths(
    session: AsyncSession, organization_id: int, workflow_id: int, version_number: int
) -> Sequence[Row[str, bool, JsonObject, datetime]]:
    """Returns (name, has_passed, outcome, played_at) of the last result of each scenario with a version: of several seeds
    one that failed, if any did. Transcripts stay where they are."""
    played_at: Any = func.coalesce(ScenarioPlay.finished_at, ScenarioPlay.started_at, ScenarioPlay.created_at)
    rows = await session.execute(
        select(
            PlayedScenarioResult.name,
            PlayedScenarioResult.has_passed,
            PlayedScenarioResult.outcome,
            played_at.label("played_at"),
        )
        .join(ScenarioPlay, ScenarioPlay.id == PlayedScenarioResult.play_id)
        .where(
            ScenarioPlay.organization_id == organization_id,
            ScenarioPlay.workflow_id == workflow_id,
            ScenarioPlay.version_number == version_number,
            PlayedScenarioResult.organization_id == organization_id,
        )
        .ext(distinct_on(PlayedScenarioResult.name))
        .order_by(
            PlayedScenarioResult.name,
            ScenarioPlay.id.desc(),
            PlayedScenarioResult.has_passed,
            PlayedScenarioResult.seed,
        )
    )
    return rows.all()
