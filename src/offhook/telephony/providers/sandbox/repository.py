"""Queries on the sandbox network's own record of calls."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ARRAY, Text, bindparam, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database_clock import time_of
from offhook.telephony.providers.sandbox.network import CallRecord
from offhook.telephony.providers.sandbox.tables import SandboxCall


async def write_sandbox_calls(session: AsyncSession, records: Sequence[CallRecord]) -> None:
    """Writes entries of the network's record. An existing one (an earlier try whose response was lost) stays."""
    await session.execute(
        insert(SandboxCall)
        .values(
            [
                {
                    "call_id": record.call_id,
                    "run_id": record.run_id,
                    "organization_id": record.organization_id,
                    "to_number": record.to_number,
                    "process": record.process,
                    "status": record.status,
                }
                for record in records
            ]
        )
        .on_conflict_do_nothing()
    )


_END: Final = text(
    "UPDATE sandbox_calls AS call SET status = ended.status, ended_at = :now"
    " FROM unnest(:call_ids, :statuses) AS ended (call_id, status)"
    " WHERE call.call_id = ended.call_id AND call.ended_at IS NULL"
).bindparams(bindparam("call_ids", type_=ARRAY(Text)), bindparam("statuses", type_=ARRAY(Text)))


async def end_sandbox_calls(session: AsyncSession, calls: Sequence[tuple[str, str]]) -> None:
    """Ends the calls given as ``(call id, status)``. Takes no organization: the record is the network's own, and its
    ids are unguessable."""
    await session.execute(
        _END,
        {
            "call_ids": [call_id for call_id, _ in calls],
            "statuses": [status for _, status in calls],
            "now": time_of(session),
        },
    )


async def find_sandbox_call(session: AsyncSession, organization_id: int, run_id: int) -> CallRecord | None:
    found = await session.execute(
        select(SandboxCall)
        .where(SandboxCall.run_id == run_id, SandboxCall.organization_id == organization_id)
        .order_by(SandboxCall.dialled_at.desc())
        .limit(1)
    )
    row = found.scalar_one_or_none()
    if row is None:
        return None
    return CallRecord(
        row.call_id, row.run_id, row.organization_id, row.to_number, row.process, row.status, row.ended_at is not None
    )


async def count_recorded_calls(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> dict[int, int]:
    """Returns the number of recorded calls per run, leaving out runs without any."""
    found = await session.execute(
        select(SandboxCall.run_id, func.count())
        .where(SandboxCall.organization_id == organization_id, SandboxCall.run_id.in_(run_ids))
        .group_by(SandboxCall.run_id)
    )
    return {row[0]: row[1] for row in found}
