"""Runs by the dozen, for campaigns: one statement makes them, one gives them their tokens, one says how they ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import hash_token, new_token
from offhook.runs.live.media_tokens import TOKEN_TTL_S
from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import MediaToken, Run
from offhook.workflows.service import VersionToRun


@dataclass(frozen=True, slots=True)
class NewCall:
    """One outbound call of a batch. Numbers are E.164."""

    name: str
    to_number: str
    from_number: str
    context: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CreatedRun:
    id: int
    media_token: str


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended, once nothing more will be written about it. ``is_carried``: a live call carries it now.

    ``status`` None: it is not over.
    """

    run_id: int
    status: str | None
    outcome: str | None
    end_reason: str | None
    is_carried: bool = False


async def create_calls(
    session: AsyncSession, version: VersionToRun, *, mode: str, campaign_id: int, calls: Sequence[NewCall]
) -> list[CreatedRun]:
    """Runs in state ``initiated``, each with a token for its media, in the order of ``calls``.

    The caller holds the organization's call slots (``limits.lock_call_slots``) and has seen that there are enough.
    """
    now = datetime.now(UTC)
    made = await session.execute(
        insert(Run).returning(Run.id, sort_by_parameter_order=True),
        [
            {
                "organization_id": version.organization_id,
                "workflow_id": version.workflow_id,
                "version_id": version.version_id,
                "version_number": version.version_number,
                "name": call.name,
                "mode": mode,
                "direction": "outbound",
                "phone_number": call.to_number,
                "called_number": call.to_number,
                "caller_number": call.from_number,
                "campaign_id": campaign_id,
                "initial_context": call.context,
            }
            for call in calls
        ],
    )
    runs = [CreatedRun(run_id, new_token()) for run_id in made.scalars()]
    await session.execute(
        insert(MediaToken),
        [
            {
                "token_sha256": hash_token(run.media_token),
                "run_id": run.id,
                "mode": mode,
                "expires_at": now + timedelta(seconds=TOKEN_TTL_S),
            }
            for run in runs
        ],
    )
    return runs


async def load_run_ends(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> list[RunEnd]:
    """What became of these runs; those that were deleted are left out."""
    rows = await session.execute(
        select(
            Run.id, Run.status, Run.outcome, Run.end_reason,
            func.coalesce(Run.lease_until > func.now(), False).label("is_carried"),
            Run.lease_until.is_not(None).label("is_leased"),
        ).where(Run.organization_id == organization_id, Run.id.in_(run_ids))
    )  # fmt: skip
    return [
        RunEnd(
            row.id,
            # A final run with a lease is still being completed by the process that carried it, or by the sweeper.
            None if row.status in LIVE_STATES or row.is_leased else row.status,
            row.outcome,
            row.end_reason,
            row.is_carried,
        )
        for row in rows
    ]
