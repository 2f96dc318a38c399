"""Statements that close an organization."""

from sqlalchemy import delete, exists, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from offhook.orgs.tables import (
    ApiKey,
    IdentityProvider,
    Member,
    Organization,
    SignInChallenge,
    SignInLink,
    User,
    UserSession,
)

# Invitations stay until the job deletes them: those who revoke one at this moment hold its row and wait for the organization's.
_LETS_IN = (UserSession, SignInLink, SignInChallenge, IdentityProvider, Member)


async def lock_organization(session: AsyncSession, organization_id: int) -> Organization | None:
    """Returns the organization as it is now, locked against everything that begins in it."""
    statement = select(Organization).where(Organization.id == organization_id).with_for_update()
    return await session.scalar(statement.execution_options(populate_existing=True))


async def lock_members(session: AsyncSession, organization_id: int) -> list[int]:
    """Locks the members, in one order, so that none joins another organization in the meantime; returns their
    numbers."""
    member_ids = select(Member.user_id).where(Member.organization_id == organization_id)
    return list(
        await session.scalars(select(User.id).where(User.id.in_(member_ids)).order_by(User.id).with_for_update())
    )


async def list_members_of_this_only(session: AsyncSession, organization_id: int) -> list[User]:
    """Returns the members who belong to no other organization."""
    other = aliased(Member)
    is_elsewhere = exists().where(other.user_id == User.id, other.organization_id != organization_id)
    found = await session.scalars(
        select(User)
        .join(Member, Member.user_id == User.id)
        .where(Member.organization_id == organization_id, ~is_elsewhere)
        .order_by(User.id)
    )
    return list(found)


async def delete_what_lets_in(session: AsyncSession, organization_id: int) -> int:
    """Deletes memberships, sessions, links, the identity provider and API keys; returns how many keys were not archived."""
    keys = await session.scalars(
        delete(ApiKey).where(ApiKey.organization_id == organization_id).returning(ApiKey.archived_at)
    )
    active = [archived_at for archived_at in keys if archived_at is None]
    for table in _LETS_IN:
        await session.execute(delete(table).where(table.organization_id == organization_id))
    return len(active)
