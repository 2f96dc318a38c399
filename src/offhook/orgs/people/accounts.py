"""A person's own account: the organizations to switch between, the password, the sessions."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import hash_token
from offhook.orgs import repository, service
from offhook.orgs.caller import Caller
from offhook.orgs.errors import OrganizationNotAccessible, SessionNotFound, UserNotFound
from offhook.orgs.service import SignInResult
from offhook.orgs.tables import User, UserSession


async def get_user(session: AsyncSession, user_id: int) -> User:
    """Raises :class:`UserNotFound` (404)."""
    found = await session.get(User, user_id)
    if found is None:
        raise UserNotFound
    return found


async def switch_organization(
    session: AsyncSession, caller: Caller, token: str, organization_id: int, now: datetime
) -> SignInResult:
    """A session in another organization of the same person; the old token ends. ``OrganizationNotAccessible`` (404)."""
    assert caller.user_id is not None
    membership = await repository.find_membership(session, organization_id, caller.user_id)
    if membership is None:
        raise OrganizationNotAccessible
    await service.end_session(session, token, now)
    return await service.sign_in_to(session, membership[0], organization_id, membership[1], now)


async def set_password(session: AsyncSession, user_id: int, password_hash: str) -> None:
    await session.execute(update(User).where(User.id == user_id).values(password_hash=password_hash))


async def list_sessions(session: AsyncSession, user_id: int, now: datetime) -> Sequence[UserSession]:
    """Those that open something, newest first; a superuser's borrowed ones too: a person may see them."""
    found = await session.scalars(
        select(UserSession)
        .where(UserSession.user_id == user_id, UserSession.revoked_at.is_(None), UserSession.expires_at > now)
        .order_by(UserSession.id.desc())
    )
    return found.all()


async def end_session(session: AsyncSession, user_id: int, session_id: int, now: datetime) -> None:
    """Revoke one session of this person; :class:`SessionNotFound` (404) when there is none that opens something."""
    ended = await session.scalar(
        update(UserSession)
        .where(UserSession.id == session_id, UserSession.user_id == user_id, UserSession.revoked_at.is_(None))
        .where(UserSession.expires_at > now)
        .values(revoked_at=now)
        .returning(UserSession.id)
    )
    if ended is None:
        raise SessionNotFound


async def end_other_sessions(session: AsyncSession, user_id: int, token: str, now: datetime) -> int:
    """Revoke every session of this person but the one of ``token``; how many there were."""
    done = await session.execute(
        update(UserSession)
        .where(UserSession.user_id == user_id, UserSession.revoked_at.is_(None), UserSession.expires_at > now)
        .where(UserSession.token_sha256 != hash_token(token))
        .values(revoked_at=now)
    )
    assert isinstance(done, CursorResult)
    return done.rowcount


def is_session_of(record: UserSession, token: str) -> bool:
    return record.token_sha256 == hash_token(token)
