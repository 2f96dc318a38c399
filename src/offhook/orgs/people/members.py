"""Membership and roles; an organization keeps at least one owner, even when several leave at once."""

from typing import Final

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.caller import ADMINS, Caller
from offhook.orgs.errors import LastOwner, MemberNotFound, OwnerOnly
from offhook.orgs.people import repository
from offhook.orgs.tables import Member, User

OWNER: Final = "owner"


def check_may_grant(caller: Caller, role: str) -> None:
    """Raises :class:`OwnerOnly` (403) unless the caller may grant and revoke this role: only owners handle owners."""
    if role == OWNER and caller.role != OWNER:
        raise OwnerOnly


async def change_role(session: AsyncSession, caller: Caller, user_id: int, role: str) -> tuple[Row[User, Member], str]:
    """Sets a member's role from the next request on; returns the member and the previous role."""
    await repository.lock_organization(session, caller.organization_id)
    row = await repository.find_member(session, caller.organization_id, user_id)
    if row is None:
        raise MemberNotFound
    before = row[1].role
    check_may_grant(caller, role)
    check_may_grant(caller, before)
    if before == OWNER and role != OWNER:
        await _require_other_owner(session, caller.organization_id)
    row[1].role = role
    await session.flush()
    return row, before


async def remove_member(session: AsyncSession, caller: Caller, user_id: int) -> Row[User, Member]:
    """Removes a member and ends their sessions and open invitations at once; objects that they created stay.

    Members may leave; admins remove others; only owners remove owners.
    """
    await repository.lock_organization(session, caller.organization_id)
    row = await repository.find_member(session, caller.organization_id, user_id)
    if row is None:
        raise MemberNotFound
    if user_id != caller.user_id:
        if caller.role not in ADMINS:
            raise OwnerOnly("Only admins can remove other members.")
        check_may_grant(caller, row[1].role)
    if row[1].role == OWNER:
        await _require_other_owner(session, caller.organization_id)
    await repository.delete_member(session, caller.organization_id, user_id)
    return row


async def _require_other_owner(session: AsyncSession, organization_id: int) -> None:
    if await repository.count_members(session, organization_id, OWNER) <= 1:
        raise LastOwner
