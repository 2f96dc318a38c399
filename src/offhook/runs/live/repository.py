"""Queries for media tokens and for the values that a call stores with its run."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.runs.tables import MediaToken, Run, RunEvent


async def insert_media_tokens(session: AsyncSession, rows: Sequence[Mapping[str, Any]]) -> None:
    """Inserts tokens; existing ones stay unchanged."""
    await session.execute(insert(MediaToken).on_conflict_do_nothing(), rows)


async def spend_media_token(
    session: AsyncSession, token_sha256: bytes, *, run_id: int, mode: str, now: datetime
) -> bool:
    """Marks the token of this run and mode as used; of two transactions exactly one succeeds."""
    spent = await session.execute(
        update(MediaToken)
        .where(
            MediaToken.token_sha256 == token_sha256,
            MediaToken.run_id == run_id,
            MediaToken.mode == mode,
            MediaToken.used_at.is_(None),
            MediaToken.expires_at > now,
        )
        .values(used_at=now)
        .returning(MediaToken.run_id)
    )
    return spent.scalar_one_or_none() is not None


async def is_media_token_spent(session: AsyncSession, run: Run, token_sha256: bytes) -> bool:
    """Returns whether a socket of this run was opened with the token."""
    used_at = await session.scalar(
        select(MediaToken.used_at).where(MediaToken.token_sha256 == token_sha256, MediaToken.run_id == run.id)
    )
    return used_at is not None


async def merge_initial_context(session: AsyncSession, run: Run, values: JsonObject) -> None:
    """Adds values to the run's ``initial_context``."""
    await session.execute(
        update(Run)
        .where(Run.id == run.id, Run.organization_id == run.organization_id)
        .values(initial_context=Run.initial_context.concat(values))
    )


async def last_event_at(session: AsyncSession, organization_id: int, run_id: int) -> datetime | None:
    """Returns the time of the run's last stored event."""
    found = await session.execute(
        select(func.max(RunEvent.created_at)).where(
            RunEvent.run_id == run_id, RunEvent.organization_id == organization_id
        )
    )
    return found.scalar_one()


async def find_run_of_ringing_call(session: AsyncSession, run_id: int) -> Run | None:
    """Returns a run that this process placed or answered itself, whatever its organization."""
    return (await session.execute(select(Run).where(Run.id == run_id))).scalar_one_or_none()
