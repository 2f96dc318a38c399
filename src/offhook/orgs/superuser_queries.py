"""What superusers ask of organizations and their people, across all of them."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Row, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import repository, service
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.errors import OrganizationNotAccessible, UserNotFound, UserWithoutOrganization
from offhook.orgs.people import members
from offhook.orgs.tables import Member, Organization, User

IMPERSONATION_TTL: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ImpersonationTarget:
    """The user to act for, by the first of the three that is set; ``organization_id`` chooses among his."""

    provider_user_id: str | None
    user_id: int | None
    email: str | None
    organization_id: int | None


@dataclass(frozen=True, slots=True)
class ImpersonationSession:
    """A session in a user's name; ``token`` is its secret."""

    token: str
    expires_at: datetime
    user: User
    organization_id: int
    role: str


async def list_organizations(
    session: AsyncSession, *, limit: int | None, offset: int
) -> tuple[list[Row[Organization, int]], int]:
    """Each with its number of members, oldest first; and how many there are in all."""
    member_count = (
        select(func.count()).where(Member.organization_id == Organization.id).correlate(Organization).scalar_subquery()
    )
    rows = await session.execute(
        select(Organization, member_count).order_by(Organization.id).limit(limit).offset(offset)
    )
    total = await session.scalar(select(func.count()).select_from(Organization))
    return list(rows.all()), total or 0


async def names_by_id(session: AsyncSession, ids: Collection[int]) -> dict[int, str]:
    rows = await session.execute(select(Organization.id, Organization.name).where(Organization.id.in_(ids)))
    return {row[0]: row[1] for row in rows}


async def start_impersonation(
    session: AsyncSession, superuser: Caller, who: ImpersonationTarget, now: datetime
) -> ImpersonationSession:
    """A session of one hour. ``UserNotFound`` and ``OrganizationNotAccessible`` (404), ``UserWithoutOrganization`` (409).

    The entry in the audit log is the organization's in which the superuser acts.
    """
    assert superuser.user_id is not None
    user = await _find_target(session, who)
    found = await members.organizations_of(session, user.id)
    if not found:
        raise UserWithoutOrganization
    wanted = [row for row in found if who.organization_id in {None, row[0].id}]
    if not wanted:
        raise OrganizationNotAccessible("This user does not belong to that organization.")
    organization, role = wanted[0]
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


async def _find_target(session: AsyncSession, who: ImpersonationTarget) -> User:
    user_id = who.user_id
    if who.provider_user_id is not None:
        # People sign in with us: the identity provider's identifier is our own id.
        user_id = int(who.provider_user_id) if re.fullmatch(r"[0-9]{1,9}", who.provider_user_id) else 0
    if user_id is not None:
        user = await session.get(User, user_id)
    else:
        user = await repository.user_by_email(session, who.email or "")
    if user is None:
        raise UserNotFound
    return user
