"""Impersonation: a superuser's session on behalf of a user."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import repository, service
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.errors import OrganizationNotAccessible, SuperuserOnly, UserNotFound, UserWithoutOrganization
from offhook.orgs.people import repository as people
from offhook.orgs.tables import User

IMPERSONATION_TTL: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ImpersonationTarget:
    """The user to impersonate, by the first of the three fields that is set;
    ``organization_id`` selects one of theirs.
    """

    provider_user_id: str | None
    user_id: int | None
    email: str | None
    organization_id: int | None


@dataclass(frozen=True, slots=True)
class ImpersonationSession:
    """A session on behalf of a user; ``token`` is its secret."""

    token: str
    expires_at: datetime
    user: User
    organization_id: int
    role: str


async def start_impersonation(
    session: AsyncSession, superuser: Caller, target: ImpersonationTarget, now: datetime
) -> ImpersonationSession:
    """Starts a session of one hour, recorded in the audit log of the organization in which the superuser acts.

    Raises ``SuperuserOnly`` (403), ``UserNotFound`` and ``OrganizationNotAccessible`` (404), ``UserWithoutOrganization`` (409).
    """
    assert superuser.user_id is not None
    # Who revokes the access ends the borrowed sessions that there are: none may begin after that.
    boss = await people.lock_user(session, superuser.user_id)
    if boss is None or not boss.is_superuser:
        raise SuperuserOnly
    user = await _find_target(session, target)
    memberships = await people.organizations_of(session, user.id)
    if not memberships:
        raise UserWithoutOrganization
    candidates = [row for row in memberships if target.organization_id in {None, row[0].id}]
    if not candidates:
        raise OrganizationNotAccessible("This user does not belong to that organization.")
    organization, role = candidates[0]
    token = await service.start_session(
        session,
        organization_id=organization.id,
        user_id=user.id,
        now=now,
        lifetime=IMPERSONATION_TTL,
        impersonator_id=superuser.user_id,
    )
    as_user = Caller(
        organization_id=organization.id,
        user_id=user.id,
        key_id=None,
        role=role,
        is_superuser=False,
        impersonator_id=superuser.user_id,
        ip=superuser.ip,
    )
    await write_audit_entry(
        session, as_user, "user.impersonated", f"user:{user.id}", {"until": (now + IMPERSONATION_TTL).isoformat()}
    )
    return ImpersonationSession(token, now + IMPERSONATION_TTL, user, organization.id, role)


async def _find_target(session: AsyncSession, target: ImpersonationTarget) -> User:
    user_id = target.user_id
    if target.provider_user_id is not None:
        # Users sign in with Offhook itself: the identity provider's identifier is our own id.
        user_id = int(target.provider_user_id) if re.fullmatch(r"[0-9]{1,9}", target.provider_user_id) else 0
    if user_id is not None:
        user = await people.find_user(session, user_id)
    else:
        user = await repository.user_by_email(session, target.email or "")
    if user is None:
        raise UserNotFound
    return user
