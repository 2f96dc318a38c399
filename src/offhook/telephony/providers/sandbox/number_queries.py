"""Statements on the numbers that the simulated network has sold."""

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.telephony.providers.sandbox.tables import SandboxNumber


async def insert_number(session: AsyncSession, organization_id: int, number: str, carrier_id: str) -> bool:
    """Inserts a sold number. Returns False when it is already sold."""
    written = await session.execute(
        insert(SandboxNumber)
        .values(organization_id=organization_id, phone_number=number, carrier_id=carrier_id)
        .on_conflict_do_nothing()
        .returning(SandboxNumber.phone_number)
    )
    return written.scalar_one_or_none() is not None


async def find_carrier_id(session: AsyncSession, organization_id: int, number: str) -> str | None:
    carrier_id: str | None = await session.scalar(
        select(SandboxNumber.carrier_id).where(
            SandboxNumber.organization_id == organization_id, SandboxNumber.phone_number == number
        )
    )
    return carrier_id


async def find_sold(session: AsyncSession, numbers: list[str]) -> set[str]:
    """Returns those of ``numbers`` that any organization owns, because a number is sold once."""
    rows = await session.scalars(select(SandboxNumber.phone_number).where(SandboxNumber.phone_number.in_(numbers)))
    return set(rows)


async def delete_number(session: AsyncSession, organization_id: int, number: str) -> None:
    await session.execute(
        delete(SandboxNumber).where(
            SandboxNumber.organization_id == organization_id, SandboxNumber.phone_number == number
        )
    )
