"""Statements on second factors and recovery codes, which belong to people; they may be in several organizations."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.tables import Member, Organization, RecoveryCode, SecondFactor, SignInChallenge


async def find_factor(session: AsyncSession, user_id: int) -> SecondFactor | None:
    """Returns the person's factor, also one that is not confirmed yet."""
    return await session.get(SecondFactor, user_id, populate_existing=True)


async def has_factor(session: AsyncSession, user_id: int) -> bool:
    statement = select(SecondFactor.user_id).where(
        SecondFactor.user_id == user_id, SecondFactor.confirmed_at.is_not(None)
    )
    return await session.scalar(statement) is not None


async def store_unconfirmed(session: AsyncSession, user_id: int, sealed_secret: bytes, now: datetime) -> bool:
    """Stores a new secret unless the person has a confirmed one; returns whether it did."""
    values = {"sealed_secret": sealed_secret, "created_at": now, "last_step": None}
    stored = await session.scalar(
        insert(SecondFactor)
        .values(user_id=user_id, **values)
        .on_conflict_do_update(
            index_elements=[SecondFactor.user_id], set_=values, where=SecondFactor.confirmed_at.is_(None)
        )
        .returning(SecondFactor.user_id)
    )
    return stored is not None


async def confirm(session: AsyncSession, user_id: int, sealed_secret: bytes, step: int, now: datetime) -> bool:
    """Makes this secret the person's factor; False if another request did so or started over."""
    confirmed = await session.scalar(
        update(SecondFactor)
        .where(
            SecondFactor.user_id == user_id,
            SecondFactor.sealed_secret == sealed_secret,
            SecondFactor.confirmed_at.is_(None),
        )
        .values(confirmed_at=now, last_step=step)
        .returning(SecondFactor.user_id)
    )
    return confirmed is not None


async def spend_step(session: AsyncSession, user_id: int, step: int) -> bool:
    """Marks the code of a time step as used; False when it, or a newer one, was."""
    spent = await session.scalar(
        update(SecondFactor)
        .where(SecondFactor.user_id == user_id, SecondFactor.confirmed_at.is_not(None))
        .where(or_(SecondFactor.last_step.is_(None), SecondFactor.last_step < step))
        .values(last_step=step)
        .returning(SecondFactor.user_id)
    )
    return spent is not None


async def spend_recovery_code(session: AsyncSession, user_id: int, code_sha256: bytes, now: datetime) -> bool:
    """Marks a recovery code as used; of two requests at once, one gets it."""
    spent = await session.scalar(
        update(RecoveryCode)
        .where(RecoveryCode.user_id == user_id, RecoveryCode.code_sha256 == code_sha256, RecoveryCode.used_at.is_(None))
        .values(used_at=now)
        .returning(RecoveryCode.id)
    )
    return spent is not None


async def replace_recovery_codes(session: AsyncSession, user_id: int, hashes: Iterable[bytes]) -> None:
    await session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))
    session.add_all([RecoveryCode(user_id=user_id, code_sha256=code_sha256) for code_sha256 in hashes])
    await session.flush()


async def count_recovery_codes(session: AsyncSession, user_id: int) -> int:
    """Returns how many recovery codes are unused."""
    statement = select(func.count()).where(RecoveryCode.user_id == user_id, RecoveryCode.used_at.is_(None))
    return await session.scalar(statement) or 0


async def remove_factor(session: AsyncSession, user_id: int) -> bool:
    """Deletes the factor, its recovery codes and the sign-ins that wait for a code; returns whether a confirmed one went."""
    await session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))
    await delete_challenges(session, user_id)
    confirmed_at = await session.scalar(
        delete(SecondFactor).where(SecondFactor.user_id == user_id).returning(SecondFactor.confirmed_at)
    )
    return confirmed_at is not None


async def delete_challenges(session: AsyncSession, user_id: int) -> None:
    """Ends the person's sign-ins that wait for a code."""
    await session.execute(delete(SignInChallenge).where(SignInChallenge.user_id == user_id))


async def members_with_factor(session: AsyncSession, organization_id: int) -> set[int]:
    """Returns the members who have a second factor, by user id."""
    statement = (
        select(SecondFactor.user_id)
        .join(Member, Member.user_id == SecondFactor.user_id)
        .where(Member.organization_id == organization_id, SecondFactor.confirmed_at.is_not(None))
    )
    return set(await session.scalars(statement))


async def count_members_without(session: AsyncSession, organization_id: int) -> int:
    """Returns how many members have no second factor."""
    has_one = (
        select(SecondFactor.user_id)
        .where(SecondFactor.user_id == Member.user_id, SecondFactor.confirmed_at.is_not(None))
        .correlate(Member)
        .exists()
    )
    statement = select(func.count()).select_from(Member).where(Member.organization_id == organization_id, ~has_one)
    return await session.scalar(statement) or 0


async def due_at(session: AsyncSession, organization_id: int) -> datetime | None:
    """Returns when the organization's members begin to need a second factor; None: they do not."""
    return await session.scalar(select(Organization.second_factor_due_at).where(Organization.id == organization_id))
