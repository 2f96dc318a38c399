"""Membership and roles; an organization keeps at least one owner, even when several leave at once."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import Forbidden
from offhook.orgs import repository as organizations
from offhook.orgs import service
from offhook.orgs.caller import ADMINS, ROLES, Caller
from offhook.orgs.errors import InvalidToken, LastOwner, MemberNotFound, OwnerOnly, PasswordLinkRefused
from offhook.orgs.held_access import hold_access
from offhook.orgs.people import repository
from offhook.orgs.tables import Member, User

OWNER: Final = "owner"


def check_may_grant(caller: Caller, role: str) -> None:
    """Raises :class:`OwnerOnly` (403) unless the caller may grant and revoke this role: only owners handle owners."""
    if role == OWNER and caller.role != OWNER:
        raise OwnerOnly


async def hold_role(session: AsyncSession, caller: Caller) -> Caller:
    """Returns a person with the role that they have now, and keep until the transaction ends: they may have been demoted since
    the request was let in.

    Raises ``OrganizationClosed`` (409) and, for people who were removed, ``InvalidToken`` (401).
    """
    assert caller.user_id is not None
    await service.require_open(session, caller.organization_id)
    membership = await organizations.find_membership(session, caller.organization_id, caller.user_id)
    if membership is None:
        raise InvalidToken
    return replace(caller, role=membership[1])


async def hold_admin(session: AsyncSession, caller: Caller) -> Caller:
    """Returns an admin as :func:`hold_role` does; raises ``Forbidden`` (403) for people who are none any more, too."""
    held = await hold_role(session, caller)
    if held.role not in ADMINS:
        raise Forbidden("This requires the admin role.")
    return held


@dataclass(frozen=True, slots=True)
class MemberChange:
    """A changed or removed member: ``role`` before, and the names of the API keys that ended with it."""

    user: User
    member: Member
    previous_role: str
    ended_keys: list[str]


@dataclass(frozen=True, slots=True)
class MemberName:
    """What others call a member: the name or, without one, the email address."""

    user_id: int
    name: str


async def names_of(session: AsyncSession, organization_id: int, user_ids: Collection[int]) -> dict[int, MemberName]:
    """Returns members by user id; users who are not members are left out."""
    if not user_ids:
        return {}
    rows = await repository.names_of_members(session, organization_id, user_ids)
    return {user_id: MemberName(user_id, name or email) for user_id, name, email in rows}


async def change_role(session: AsyncSession, caller: Caller, user_id: int, role: str) -> MemberChange:
    """Sets a member's role from the next request on.

    With a lower role the invitations and links that the person made end, and with less than an admin's their keys.
    """
    await repository.lock_organization(session, caller.organization_id)
    caller = await hold_admin(session, caller)
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
    ended: list[str] = []
    if ROLES.index(role) > ROLES.index(before):
        await repository.revoke_what_lets_in(session, caller.organization_id, user_id)
    if before in ADMINS and role not in ADMINS:
        ended = await repository.archive_keys_of(session, caller.organization_id, user_id)
    return MemberChange(row[0], row[1], before, ended)


async def remove_member(session: AsyncSession, caller: Caller, user_id: int) -> MemberChange:
    """Removes a member and ends their sessions, API keys and open invitations at once; other objects of theirs stay.

    Members may leave; admins remove others; only owners remove owners.
    """
    await repository.lock_organization(session, caller.organization_id)
    row = await repository.find_member(session, caller.organization_id, user_id)
    if row is None:
        raise MemberNotFound
    if user_id != caller.user_id:
        if caller.user_id is not None:
            caller = await hold_role(session, caller)
        else:
            await hold_access(session, caller)
        if caller.role not in ADMINS:
            raise OwnerOnly("Only admins can remove other members.")
        check_may_grant(caller, row[1].role)
    if row[1].role == OWNER:
        await _require_other_owner(session, caller.organization_id)
    await repository.delete_member(session, caller.organization_id, user_id)
    ended = await repository.archive_keys_of(session, caller.organization_id, user_id)
    return MemberChange(row[0], row[1], row[1].role, ended)


async def require_own_person(session: AsyncSession, caller: Caller, user_id: int) -> User:
    """Returns a member whose password the caller may have reset: one whose account opens this organization only.

    Raises ``MemberNotFound`` (404), ``OwnerOnly`` (403) and ``PasswordLinkRefused`` (409).
    """
    caller = await hold_admin(session, caller)
    row = await repository.find_member(session, caller.organization_id, user_id)
    if row is None:
        raise MemberNotFound
    user, member = row
    check_may_grant(caller, member.role)
    await repository.lock_user(session, user.id)
    if user.is_superuser or len(await repository.organizations_of(session, user.id)) > 1:
        raise PasswordLinkRefused
    return user


async def _require_other_owner(session: AsyncSession, organization_id: int) -> None:
    if await repository.count_members(session, organization_id, OWNER) <= 1:
        raise LastOwner
