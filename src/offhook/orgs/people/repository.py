"""Statements on members, invitations and personal accounts."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Row, delete, exists, func, or_, select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.tables import (
    ApiKey,
    IdentityProvider,
    Invitation,
    Member,
    MemberIdentity,
    Organization,
    SignInLink,
    User,
    UserSession,
)

_IS_OPEN: Final = (Invitation.accepted_at.is_(None), Invitation.revoked_at.is_(None))
_OPENS_SOMETHING: Final = or_(
    User.is_superuser, select(Member.user_id).where(Member.user_id == User.id).correlate(User).exists()
)


async def list_members(session: AsyncSession, organization_id: int) -> list[Row[User, Member]]:
    """Returns all members in the order in which they joined."""
    statement = (
        select(User, Member)
        .join(Member, Member.user_id == User.id)
        .where(Member.organization_id == organization_id)
        .order_by(Member.created_at, Member.user_id)
    )
    return list((await session.execute(statement)).all())


async def names_of_members(
    session: AsyncSession, organization_id: int, user_ids: Collection[int]
) -> Sequence[Row[int, str | None, str]]:
    """Returns ``(user id, name, email)`` of those who are members."""
    statement = (
        select(User.id, User.name, User.email)
        .join(Member, Member.user_id == User.id)
        .where(Member.organization_id == organization_id, User.id.in_(user_ids))
    )
    return (await session.execute(statement)).all()


async def find_member(session: AsyncSession, organization_id: int, user_id: int) -> Row[User, Member] | None:
    statement = (
        select(User, Member)
        .join(Member, Member.user_id == User.id)
        .where(Member.organization_id == organization_id, Member.user_id == user_id)
    )
    return (await session.execute(statement)).first()


async def delete_member(session: AsyncSession, organization_id: int, user_id: int) -> None:
    """Deletes the membership and revokes what depends on it: the member's sessions and open invitations."""
    await lock_user(session, user_id)
    await session.execute(delete(Member).where(Member.organization_id == organization_id, Member.user_id == user_id))
    await session.execute(
        update(UserSession)
        .where(UserSession.organization_id == organization_id, UserSession.user_id == user_id)
        .where(UserSession.revoked_at.is_(None))
        .values(revoked_at=func.now())
    )
    await revoke_what_lets_in(session, organization_id, user_id)


async def revoke_what_lets_in(session: AsyncSession, organization_id: int, user_id: int) -> None:
    """Revokes the open invitations and sign-in links that this person made: one that they kept would let them in again."""
    await session.execute(
        update(Invitation)
        .where(Invitation.organization_id == organization_id, Invitation.invited_by == user_id, *_IS_OPEN)
        .values(revoked_at=func.now())
    )
    await session.execute(
        update(SignInLink)
        .where(SignInLink.organization_id == organization_id, SignInLink.created_by == user_id)
        .where(SignInLink.used_at.is_(None))
        .values(used_at=func.now())
    )


async def keys_by_creator(session: AsyncSession, organization_id: int) -> dict[int, list[str]]:
    """Returns the names of active API keys by the person who created them."""
    rows = await session.execute(
        select(ApiKey.created_by, ApiKey.name)
        .where(ApiKey.organization_id == organization_id, ApiKey.archived_at.is_(None), ApiKey.created_by.is_not(None))
        .order_by(ApiKey.id)
    )
    found: dict[int, list[str]] = {}
    for creator, name in rows:
        assert creator is not None
        found.setdefault(creator, []).append(name)
    return found


async def archive_keys_of(session: AsyncSession, organization_id: int, user_id: int) -> list[str]:
    """Archives the active API keys that this person created and returns their names."""
    names = await session.scalars(
        update(ApiKey)
        .where(ApiKey.organization_id == organization_id, ApiKey.created_by == user_id, ApiKey.archived_at.is_(None))
        .values(archived_at=func.now())
        .returning(ApiKey.name)
    )
    return sorted(names)


async def lock_organization(session: AsyncSession, organization_id: int) -> None:
    """Serializes changes of owners: when two leave concurrently, the second sees that the first is gone."""
    await session.execute(select(Organization.id).where(Organization.id == organization_id).with_for_update())


async def count_members(session: AsyncSession, organization_id: int, role: str) -> int:
    statement = select(func.count()).where(Member.organization_id == organization_id, Member.role == role)
    return await session.scalar(statement) or 0


async def has_member_with_email(session: AsyncSession, organization_id: int, email: str) -> bool:
    statement = (
        select(Member.user_id)
        .join(User, User.id == Member.user_id)
        .where(func.lower(User.email) == func.lower(email), Member.organization_id == organization_id)
    )
    return await session.scalar(statement) is not None


async def revoke_invitations_of(session: AsyncSession, organization_id: int, email: str, now: datetime) -> None:
    """Revokes the open invitations of an address."""
    await session.execute(
        update(Invitation)
        .where(Invitation.organization_id == organization_id, func.lower(Invitation.email) == func.lower(email))
        .where(*_IS_OPEN)
        .values(revoked_at=now)
    )


async def list_open_invitations(session: AsyncSession, organization_id: int, now: datetime) -> Sequence[Invitation]:
    """Returns the invitations that can still be accepted, newest first."""
    invitations = await session.scalars(
        select(Invitation)
        .where(Invitation.organization_id == organization_id, Invitation.expires_at > now, *_IS_OPEN)
        .order_by(Invitation.id.desc())
    )
    return invitations.all()


async def lock_invitation(session: AsyncSession, organization_id: int, invitation_id: int) -> Invitation | None:
    """Returns an unaccepted invitation, locked until the transaction ends."""
    return await session.scalar(
        select(Invitation)
        .where(Invitation.organization_id == organization_id, Invitation.id == invitation_id)
        .where(Invitation.accepted_at.is_(None))
        .with_for_update()
    )


# Below: reads and writes across organizations, by a link's secret or for a person, who may belong to several.


def _acceptable(token_sha256: bytes, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return Invitation.token_sha256 == token_sha256, Invitation.expires_at > now, *_IS_OPEN


async def find_invitation_by_token(
    session: AsyncSession, token_sha256: bytes, now: datetime
) -> Row[Invitation, str, bool] | None:
    """Returns an open invitation, the organization's name, and whether the address has an account in use."""
    has_account = (
        select(User.id)
        .where(func.lower(User.email) == func.lower(Invitation.email), _OPENS_SOMETHING)
        .correlate(Invitation)
        .exists()
    )
    rows = await session.execute(
        select(Invitation, Organization.name, has_account)
        .join(Organization, Organization.id == Invitation.organization_id)
        .where(*_acceptable(token_sha256, now), Organization.closed_at.is_(None))
    )
    return rows.first()


async def accept_invitation(session: AsyncSession, token_sha256: bytes, now: datetime) -> Invitation | None:
    """Marks an open invitation as accepted and returns it; of two requests at once, one gets it."""
    return await session.scalar(
        update(Invitation).where(*_acceptable(token_sha256, now)).values(accepted_at=now).returning(Invitation)
    )


async def is_account_in_use(session: AsyncSession, user: User) -> bool:
    """Returns whether the account opens an organization, or all of them as a superuser's."""
    return bool(await session.scalar(select(_OPENS_SOMETHING).select_from(User).where(User.id == user.id)))


async def lock_user(session: AsyncSession, user_id: int) -> User | None:
    """Returns the person as they are now; None when the account is gone. Until the transaction ends they join no
    organization, and what they sign in with stays as it is."""
    statement = select(User).where(User.id == user_id).with_for_update()
    return await session.scalar(statement.execution_options(populate_existing=True))


async def has_session(session: AsyncSession, user_id: int, session_id: int | None, now: datetime) -> bool:
    """Returns whether this session of the person is valid."""
    statement = select(UserSession.id).where(
        UserSession.id == session_id,
        UserSession.user_id == user_id,
        UserSession.revoked_at.is_(None),
        UserSession.expires_at > now,
    )
    return await session.scalar(statement) is not None


async def organizations_of(session: AsyncSession, user_id: int) -> list[Row[Organization, str]]:
    """Returns a person's organizations with the role in each, in the order of joining."""
    statement = (
        select(Organization, Member.role)
        .join(Member, Member.organization_id == Organization.id)
        .where(Member.user_id == user_id)
        .order_by(Member.created_at, Organization.id)
    )
    return list((await session.execute(statement)).all())


async def list_identity_providers(session: AsyncSession, user_id: int) -> list[tuple[IdentityProvider, bool]]:
    """Returns the providers of a person's organizations, each with whether it knows the person already."""
    is_linked = exists().where(
        MemberIdentity.organization_id == IdentityProvider.organization_id, MemberIdentity.user_id == user_id
    )
    statement = (
        select(IdentityProvider, is_linked)
        .join(Member, Member.organization_id == IdentityProvider.organization_id)
        .where(Member.user_id == user_id)
    )
    return [(provider, linked) for provider, linked in (await session.execute(statement)).all()]


async def find_user(session: AsyncSession, user_id: int) -> User | None:
    return await session.get(User, user_id)


async def set_password(session: AsyncSession, user_id: int, password_hash: str) -> None:
    await session.execute(update(User).where(User.id == user_id).values(password_hash=password_hash))


async def list_sessions(session: AsyncSession, user_id: int, now: datetime) -> Sequence[UserSession]:
    """Returns the valid sessions, newest first, including superusers' impersonations of this person."""
    sessions = await session.scalars(
        select(UserSession)
        .where(UserSession.user_id == user_id, UserSession.revoked_at.is_(None), UserSession.expires_at > now)
        .order_by(UserSession.id.desc())
    )
    return sessions.all()


async def revoke_session(
    session: AsyncSession, user_id: int, session_id: int, now: datetime, organization_id: int | None
) -> bool:
    """Revokes one valid session of this person, or of theirs in one organization; False when there is none."""
    statement = (
        update(UserSession)
        .where(UserSession.id == session_id, UserSession.user_id == user_id, UserSession.revoked_at.is_(None))
        .where(UserSession.expires_at > now)
        .values(revoked_at=now)
        .returning(UserSession.id)
    )
    if organization_id is not None:
        statement = statement.where(UserSession.organization_id == organization_id)
    return await session.scalar(statement) is not None


async def revoke_other_sessions(session: AsyncSession, user_id: int, token_sha256: bytes, now: datetime) -> int:
    """Revokes every session of this person except the one of this token and returns their count."""
    result = await session.execute(
        update(UserSession)
        .where(UserSession.user_id == user_id, UserSession.revoked_at.is_(None), UserSession.expires_at > now)
        .where(UserSession.token_sha256 != token_sha256)
        .values(revoked_at=now)
    )
    assert isinstance(result, CursorResult)
    return result.rowcount


async def find_superuser(session: AsyncSession, email: str) -> User | None:
    return await session.scalar(select(User).where(func.lower(User.email) == func.lower(email), User.is_superuser))


async def list_superusers(session: AsyncSession) -> Sequence[User]:
    return (await session.scalars(select(User).where(User.is_superuser).order_by(User.email))).all()


async def revoke_borrowed_sessions(session: AsyncSession, superuser_id: int, now: datetime) -> None:
    """Revokes the sessions in which this superuser impersonates a user."""
    await session.execute(
        update(UserSession)
        .where(UserSession.impersonator_id == superuser_id, UserSession.revoked_at.is_(None))
        .values(revoked_at=now)
    )
