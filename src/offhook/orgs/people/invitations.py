"""Invitations: a link lets one person join an organization once, with or without an account."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import hash_token, new_token
from offhook.orgs.caller import Caller
from offhook.orgs.errors import AlreadyMember, InvitationNotFound, InvitationRefused
from offhook.orgs.people import repository
from offhook.orgs.people.members import check_may_grant, hold_admin
from offhook.orgs.tables import Invitation

INVITATION_LIFETIME: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class NewInvitation:
    """A new invitation; ``token`` is the link's secret, which is shown only now."""

    record: Invitation
    token: str


@dataclass(frozen=True, slots=True)
class InvitationPreview:
    """The details of an invitation that its link shows before acceptance."""

    organization_id: int
    organization_name: str
    email: str
    name: str | None
    role: str
    expires_at: datetime
    has_account: bool


async def create_invitation(
    session: AsyncSession, caller: Caller, *, email: str, name: str | None, role: str, now: datetime
) -> NewInvitation:
    """Invites an address and revokes its earlier open invitation.

    Raises :class:`AlreadyMember` (409) and ``OwnerOnly`` (403).
    """
    # Exclusively, so that of two invitations of an address at once one ends the other.
    await repository.lock_organization(session, caller.organization_id)
    caller = await hold_admin(session, caller)
    check_may_grant(caller, role)
    if await repository.has_member_with_email(session, caller.organization_id, email):
        raise AlreadyMember
    await repository.revoke_invitations_of(session, caller.organization_id, email, now)
    token = new_token()
    record = Invitation(
        organization_id=caller.organization_id,
        email=email,
        name=name,
        role=role,
        token_sha256=hash_token(token),
        invited_by=caller.user_id,
        created_at=now,
        expires_at=now + INVITATION_LIFETIME,
    )
    session.add(record)
    await session.flush()
    return NewInvitation(record, token)


async def revoke_invitation(
    session: AsyncSession, organization_id: int, invitation_id: int, now: datetime
) -> tuple[Invitation, bool]:
    """Revokes an invitation; returns it and True if that changed it. Raises 404 when there is none."""
    invitation = await repository.lock_invitation(session, organization_id, invitation_id)
    if invitation is None:
        raise InvitationNotFound
    changed = invitation.revoked_at is None
    invitation.revoked_at = invitation.revoked_at or now
    return invitation, changed


async def preview_invitation(session: AsyncSession, token: str, now: datetime) -> InvitationPreview:
    """Returns the preview; raises :class:`InvitationRefused` (401) for an unknown, used, revoked or expired link."""
    row = await repository.find_invitation_by_token(session, hash_token(token), now)
    if row is None:
        raise InvitationRefused
    invitation, organization_name, has_account = row
    return InvitationPreview(
        invitation.organization_id,
        organization_name,
        invitation.email,
        invitation.name,
        invitation.role,
        invitation.expires_at,
        bool(has_account),
    )


async def mark_accepted(session: AsyncSession, token: str, now: datetime) -> Invitation:
    """Accepts the invitation; of concurrent requests, one succeeds and the others get :class:`InvitationRefused`."""
    accepted = await repository.accept_invitation(session, hash_token(token), now)
    if accepted is None:
        raise InvitationRefused
    return accepted
