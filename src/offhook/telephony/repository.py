"""The queries on carrier accounts; every read takes the organisation."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.telephony.providers.sandbox.network import CallRecord
from offhook.telephony.tables import SandboxCall, TelephonyConfiguration


async def configuration(
    session: AsyncSession, organization_id: int, configuration_id: int
) -> TelephonyConfiguration | None:
    found = await session.execute(
        select(TelephonyConfiguration).where(
            TelephonyConfiguration.id == configuration_id, TelephonyConfiguration.organization_id == organization_id
        )
    )
    return found.scalar_one_or_none()


async def default_for_dialling(session: AsyncSession, organization_id: int) -> TelephonyConfiguration | None:
    """The account that is marked as default; the oldest when several are."""
    found = await session.execute(
        select(TelephonyConfiguration)
        .where(
            TelephonyConfiguration.organization_id == organization_id,
            TelephonyConfiguration.is_default_outbound.is_(True),
        )
        .order_by(TelephonyConfiguration.id)
        .limit(1)
    )
    return found.scalar_one_or_none()


async def oldest_of(session: AsyncSession, organization_id: int, provider: str) -> TelephonyConfiguration | None:
    found = await session.execute(
        select(TelephonyConfiguration)
        .where(TelephonyConfiguration.organization_id == organization_id, TelephonyConfiguration.provider == provider)
        .order_by(TelephonyConfiguration.id)
        .limit(1)
    )
    return found.scalar_one_or_none()


async def write_sandbox_call(session: AsyncSession, organization_id: int, record: CallRecord) -> None:
    await session.execute(
        insert(SandboxCall).values(
            call_id=record.call_id,
            run_id=record.run_id,
            organization_id=organization_id,
            to_number=record.to_number,
            process=record.process,
            status=record.status,
        )
    )


async def end_sandbox_call(session: AsyncSession, call_id: str, status: str) -> None:
    """Without an organisation on purpose: it is the network's own book, and the id is unguessable."""
    await session.execute(
        update(SandboxCall)
        .where(SandboxCall.call_id == call_id, SandboxCall.ended_at.is_(None))
        .values(status=status, ended_at=datetime.now(UTC))
        .execution_options(synchronize_session=False)
    )


async def sandbox_call(session: AsyncSession, organization_id: int, run_id: int) -> CallRecord | None:
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


async def sandbox_calls(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> dict[int, int]:
    found = await session.execute(
        select(SandboxCall.run_id, func.count())
        .where(SandboxCall.organization_id == organization_id, SandboxCall.run_id.in_(run_ids))
        .group_by(SandboxCall.run_id)
    )
    return {row[0]: row[1] for row in found}
