"""Who belongs to an organization and in which role; an organization keeps at least one owner, whoever leaves at once."""

from typing import Final

from sqlalchemy import Row, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.caller import ADMINS, Caller
from offhook.orgs.errors import LastOwner, MemberNotFound, OwnerOnly
from offhook.orgs.tables import Invitation, Member, Organization, User, UserSession

OWNER: Final = "owner"


async def list_members(session: AsyncSession, organization_id: int) -> list[Row[User, Member]]:
    """Everyone, in the order in which they joined."""
    statement = (
        select(User, Member)
        .join(Member, Member.user_id == User.id)
        .where(Member.organization_id == organization_id)
        .order_by(Member.created_at, Member.user_id)
    )
    return list((await session.execute(statement)).all())


async def get_member(session: AsyncSession, organization_id: int, user_id: int) -> Row[User, Member]:
    """Raises :class:`MemberNotFound` (404)."""
    statement = (
        select(User, Member)
        .join(Member, Member.user_id == User.id)
        .where(Member.organization_id == organization_id, Member.user_id == user_id)
    )
    found = (await session.execute(statement)).first()
    if found is None:
        raise MemberNotFound
    return found


async def organizations_of(session: AsyncSession, user_id: int) -> list[Row[Organization, str]]:
    """Every organization of a person, with the role there, in the order in which they were joined."""
    statement = (
        select(Organization, Member.role)
        .join(Member, Member.organization_id == Organization.id)
        .where(Member.user_id == user_id)
        .order_by(Member.created_at, Organization.id)
    )
    return list((await session.execute(statement)).all())


def check_may_grant(caller: Caller, role: str) -> None:
    """Only an owner makes owners: :class:`OwnerOnly` (403)."""
    if role == OWNER and caller.role != OWNER:
        raise OwnerOnly


async def change_role(session: AsyncSession, caller: Caller, user_id: int, role: str) -> tuple[Row[User, Member], str]:
    """The member and the role before. It holds from the next request on."""
    await _lock_organization(session, caller.organization_id)
    found = await get_member(session, caller.organization_id, user_id)
    before = found[1].role
    check_may_grant(caller, role)
    check_may_grant(caller, before)
    if before == OWNER and role != OWNER:
        await _require_other_owner(session, caller.organization_id)
    found[1].role = role
    await session.flush()
    return found, before


async def remove_member(session: AsyncSession, caller: Caller, user_id: int) -> Row[User, Member]:
    """Take a member out, or leave: what he is signed in with and his open invitations end at once, what he made stays.

    Anyone may leave; others are removed by an admin, owners by an owner.
    """
    await _lock_organization(session, caller.organization_id)
    found = await get_member(session, caller.organization_id, user_id)
    if user_id != caller.user_id:
        if caller.role not in ADMINS:
            raise OwnerOnly("Only an admin removes other members.")
        check_may_grant(caller, found[1].role)
    if found[1].role == OWNER:
        await _require_other_owner(session, caller.organization_id)
    mine = Member.organization_id == caller.organization_id
    await session.execute(delete(Member).where(mine, Member.user_id == user_id))
    await session.execute(
        update(UserSession)
        .where(UserSession.organization_id == caller.organization_id, UserSession.user_id == user_id)
        .where(UserSession.revoked_at.is_(None))
        .values(revoked_at=func.now())
    )
    # a link that he kept for himself would let him in again
    await session.execute(
        update(Invitation)
        .where(Invitation.organization_id == caller.organization_id, Invitation.invited_by == user_id)
        .where(Invitation.accepted_at.is_(None), Invitation.revoked_at.is_(None))
        .values(revoked_at=func.now())
    )
    return found


async def _lock_organization(session: AsyncSession, organization_id: int) -> None:
    """Two owners who leave at the same time: the second one sees that the first is gone."""
    await session.execute(select(Organization.id).where(Organization.id == organization_id).with_for_update())


async def _require_other_owner(session: AsyncSession, organization_id: int) -> None:
    owners = select(func.count()).where(Member.organization_id == organization_id, Member.role == OWNER)
    if (await session.scalar(owners) or 0) <= 1:
        raise LastOwner
