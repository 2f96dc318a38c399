"""Closes an organization: from then on, no sign-ins, keys or invitations work. A domain above deletes its data."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.caller import Caller
from offhook.orgs.errors import ConfirmationWrong, OrganizationClosed, OwnerOnly, SuperuserAccount
from offhook.orgs.people import account_deletion_statements as accounts
from offhook.orgs.people import closing_statements as statements
from offhook.orgs.people import members, repository
from offhook.orgs.tables import Organization, User

_NAME_WRONG = "This is not the name of the organization."
_SUPERUSER = (
    "A superuser's account would end with its only organization. End the access first (offhook superuser revoke)."
)


@dataclass(frozen=True, slots=True)
class ClosedOrganization:
    """What ended at once. ``accounts``: those of members who are in no other organization."""

    members: int
    accounts: int
    keys: int
    is_own_account_deleted: bool


async def lock_to_close(session: AsyncSession, caller: Caller, name: str) -> Organization:
    """Returns the caller's organization, locked: nothing begins in it until the transaction ends. ``name`` is typed as a
    confirmation.

    Raises ``OrganizationClosed`` (409), ``OwnerOnly`` (403) and ``ConfirmationWrong`` (422).
    """
    assert caller.user_id is not None
    organization = await statements.lock_organization(session, caller.organization_id)
    if organization is None or organization.closed_at is not None:
        raise OrganizationClosed
    membership = await repository.find_member(session, organization.id, caller.user_id)
    if membership is None or membership[1].role != members.OWNER:
        raise OwnerOnly
    if name.strip() != organization.name.strip():
        raise ConfirmationWrong(_NAME_WRONG, field="name")
    return organization


async def list_accounts_to_end(session: AsyncSession, organization_id: int) -> list[User]:
    """Returns the members whose only organization this is: without it nothing opens for them.

    Raises ``SuperuserAccount`` (409) when one of them is a superuser.
    """
    found = await statements.list_members_of_this_only(session, organization_id)
    if any(user.is_superuser for user in found):
        raise SuperuserAccount(_SUPERUSER)
    return found


async def close(session: AsyncSession, caller: Caller, organization: Organization, now: datetime) -> ClosedOrganization:
    """Ends memberships, sessions, links and keys, and deletes the accounts that opened this organization only.

    Raises ``SuperuserAccount`` (409).
    """
    user_ids = await statements.lock_members(session, organization.id)
    ending = await list_accounts_to_end(session, organization.id)
    organization.closed_at = now
    await session.flush()
    keys = await statements.delete_what_lets_in(session, organization.id)
    for user in ending:
        await accounts.end_keys(session, user.id, now)
        await accounts.delete_account(session, user)
    return ClosedOrganization(
        members=len(user_ids),
        accounts=len(ending),
        keys=keys,
        is_own_account_deleted=any(user.id == caller.user_id for user in ending),
    )
