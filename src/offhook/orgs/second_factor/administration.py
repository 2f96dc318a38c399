"""Second factors as organizations and the operator see them: the demand for them, and resets for people who lost theirs."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import hash_token
from offhook.orgs import repository as organizations
from offhook.orgs import service
from offhook.orgs.audit_trail.recorder import skip_audit_entry, write_audit_entry, write_change_entry
from offhook.orgs.caller import Caller
from offhook.orgs.errors import OwnerOnly, SecondFactorDueInvalid, SecondFactorMissing, UserNotFound
from offhook.orgs.people import members
from offhook.orgs.people import repository as people
from offhook.orgs.second_factor import repository
from offhook.orgs.tables import User

MAX_GRACE: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Demand:
    """From when on members need a second factor (None: never), and how many have none yet."""

    due_at: datetime | None
    members_without: int


async def get_demand(session: AsyncSession, organization_id: int) -> Demand:
    return Demand(
        await repository.due_at(session, organization_id),
        await repository.count_members_without(session, organization_id),
    )


async def set_demand(session: AsyncSession, caller: Caller, due_at: datetime | None, now: datetime) -> Demand:
    """Lets in only members with a second factor from this time on; None ends the demand.

    Raises ``SecondFactorDueInvalid`` (422).
    """
    organization = await service.get_organization(session, caller.organization_id)
    if due_at is not None and due_at > now + MAX_GRACE:
        raise SecondFactorDueInvalid(field="due_at")
    if due_at == organization.second_factor_due_at:
        skip_audit_entry(session)
    else:
        due_at = max(due_at, now) if due_at else None
        organization.second_factor_due_at = due_at
        data = {"due_at": due_at.isoformat() if due_at else None}
        target = f"organization:{organization.id}"
        await write_change_entry(session, caller, "second_factor.demand_changed", target, data)
    return await get_demand(session, caller.organization_id)


async def reset_for_member(session: AsyncSession, caller: Caller, user_id: int, now: datetime) -> None:
    """Takes a member's second factor off and ends their sessions. Owners do so, for people who belong to them alone.

    Raises ``OwnerOnly`` (403), ``MemberNotFound`` (404), ``PasswordLinkRefused`` and ``SecondFactorMissing`` (409).
    """
    if (await members.hold_role(session, caller)).role != members.OWNER:
        raise OwnerOnly
    user = await members.require_own_person(session, caller, user_id)
    await _reset(session, user, now)
    await write_audit_entry(session, caller, "second_factor.reset", f"user:{user.id}")


async def reset_by_command(session: AsyncSession, email: str, now: datetime) -> User:
    """Takes a person's second factor off and ends their sessions; recorded in each of their organizations.

    Raises ``UserNotFound`` (404) and ``SecondFactorMissing`` (409).
    """
    user = await organizations.user_by_email(session, email)
    if user is None:
        raise UserNotFound(f"No user has the email address {email}.")
    await _reset(session, user, now)
    for organization, _ in await people.organizations_of(session, user.id):
        actor = Caller.system(organization.id)
        await write_audit_entry(session, actor, "second_factor.reset", f"user:{user.id}", service.BY_COMMAND)
    return user


async def _reset(session: AsyncSession, user: User, now: datetime) -> None:
    await people.lock_user(session, user.id)
    if not await repository.remove_factor(session, user.id):
        raise SecondFactorMissing(f"{user.email} has no two-step sign-in.")
    await people.revoke_other_sessions(session, user.id, hash_token(""), now)
