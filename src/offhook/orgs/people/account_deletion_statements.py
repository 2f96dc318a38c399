"""Statements that delete a person's account, across the organizations that it opens."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.tables import ApiKey, Invitation, Member, Organization, SignupRequest, User


async def lock_organizations(session: AsyncSession, organization_ids: Collection[int]) -> None:
    """Locks them in one order, which two people who are in the same ones share."""
    statement = select(Organization.id).where(Organization.id.in_(organization_ids)).order_by(Organization.id)
    await session.execute(statement.with_for_update())


async def list_memberships(session: AsyncSession, user_id: int) -> Sequence[Member]:
    memberships = select(Member).where(Member.user_id == user_id).order_by(Member.organization_id)
    return (await session.scalars(memberships.execution_options(populate_existing=True))).all()


async def list_owned_alone(session: AsyncSession, user_id: int) -> Sequence[Organization]:
    """Returns the organizations whose only owner this person is, by name."""
    owners = (
        select(Member.organization_id)
        .where(Member.role == "owner")
        .group_by(Member.organization_id)
        .having(func.count() == 1, func.min(Member.user_id) == user_id)
    )
    found = select(Organization).where(Organization.id.in_(owners)).order_by(Organization.name, Organization.id)
    return (await session.scalars(found)).all()


async def count_active_keys(session: AsyncSession, user_id: int) -> dict[int, int]:
    """Returns how many active API keys this person made, by organization."""
    rows = await session.execute(
        select(ApiKey.organization_id, func.count())
        .where(ApiKey.created_by == user_id, ApiKey.archived_at.is_(None))
        .group_by(ApiKey.organization_id)
    )
    return dict(rows.all())


async def end_keys(session: AsyncSession, user_id: int, now: datetime) -> None:
    """Archives the API keys that this person made. They also expire, archived ones too: afterwards nothing tells whose they
    were, and a reactivated one would let its maker in."""
    await session.execute(
        update(ApiKey)
        .where(ApiKey.created_by == user_id)
        .values(archived_at=func.coalesce(ApiKey.archived_at, now), expires_at=func.least(ApiKey.expires_at, now))
    )


async def delete_account(session: AsyncSession, user: User) -> None:
    """Deletes the user with what belongs to them, and the closed invitations and requests that have their address."""
    address = func.lower(user.email)
    is_closed = or_(Invitation.accepted_at.is_not(None), Invitation.revoked_at.is_not(None))
    await session.execute(delete(Invitation).where(func.lower(Invitation.email) == address, is_closed))
    await session.execute(delete(SignupRequest).where(func.lower(SignupRequest.email) == address))
    await session.execute(delete(User).where(User.id == user.id))
