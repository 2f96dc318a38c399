"""Invitations: a link that lets one person join an organization once, with or without an account."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import hash_token, new_token
from offhook.orgs.caller import Caller
from offhook.orgs.errors import AlreadyMember, InvitationNotFound, InvitationRefused
from offhook.orgs.people.members import check_may_grant
from offhook.orgs.tables import Invitation, Member, Organization, User

INVITATION_LIFETIME: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class NewInvitation:
    """``token`` is the secret of the link: shown now and never again."""

    record: Invitation
    token: str


@dataclass(frozen=True, slots=True)
class InvitationPreview:
    """What someone who holds the link may know before he accepts."""

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
    """Invite an address; an earlier open invitation of it ends. :class:`AlreadyMember` (409), ``OwnerOnly`` (403)."""
    check_may_grant(caller, role)
    same_address = func.lower(User.email) == func.lower(email)
    is_member = select(Member.user_id).join(User, User.id == Member.user_id).where(same_address)
    if await session.scalar(is_member.where(Member.organization_id == caller.organization_id)) is not None:
        raise AlreadyMember
    await session.execute(
        update(Invitation)
        .where(Invitation.organization_id == caller.organization_id, func.lower(Invitation.email) == func.lower(email))
        .where(Invitation.accepted_at.is_(None), Invitation.revoked_at.is_(None))
        .values(revoked_at=now)
    )
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


async def list_open_invitations(session: AsyncSession, organization_id: int, now: datetime) -> Sequence[Invitation]:
    """Those that can still be accepted, newest first."""
    found = await session.scalars(
        select(Invitation)
        .where(Invitation.organization_id == organization_id, Invitation.expires_at > now)
        .where(Invitation.accepted_at.is_(None), Invitation.revoked_at.is_(None))
        .order_by(Invitation.id.desc())
    )
    return found.all()


async def revoke_invitation(
    session: AsyncSession, organization_id: int, invitation_id: int, now: datetime
) -> tuple[Invitation, bool]:
    """The invitation, which opens nothing any more, and whether that changed anything. 404 when there is none."""
    found = await session.scalar(
        select(Invitation)
        .where(Invitation.organization_id == organization_id, Invitation.id == invitation_id)
        .where(Invitation.accepted_at.is_(None))
        .with_for_update()
    )
    if found is None:
        raise InvitationNotFound
    changed = found.revoked_at is None
    found.revoked_at = found.revoked_at or now
    return found, changed


async def preview_invitation(session: AsyncSession, token: str, now: datetime) -> InvitationPreview:
    """Raises :class:`InvitationRefused` (401) when the link is unknown, used, revoked or too old."""
    has_account = select(User.id).where(func.lower(User.email) == func.lower(Invitation.email)).exists()
    found = await session.execute(
        select(Invitation, Organization.name, has_account)
        .join(Organization, Organization.id == Invitation.organization_id)
        .where(Invitation.token_sha256 == hash_token(token), Invitation.expires_at > now)
        .where(Invitation.accepted_at.is_(None), Invitation.revoked_at.is_(None))
    )
    row = found.first()
    if row is None:
        raise InvitationRefused
    record = row[0]
    return InvitationPreview(
        record.organization_id, row[1], record.email, record.name, record.role, record.expires_at, bool(row[2])
    )


async def mark_accepted(session: AsyncSession, token: str, now: datetime) -> Invitation:
    """The invitation, now accepted; of two who come at once one gets it, the other :class:`InvitationRefused`."""
    spent: Invitation | None = await session.scalar(
        update(Invitation)
        .where(Invitation.token_sha256 == hash_token(token), Invitation.expires_at > now)
        .where(Invitation.accepted_at.is_(None), Invitation.revoked_at.is_(None))
        .values(accepted_at=now)
        .returning(Invitation)
    )
    if spent is None:
        raise InvitationRefused
    return spent
