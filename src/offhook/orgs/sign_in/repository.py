"""Statements of authentication: credentials by hash, the last use of API keys, challenges, and requests for accounts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import asyncpg
from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from offhook.kit.database.direct_reads import DirectReadPool
from offhook.orgs.tables import ApiKey, SignInChallenge, SignupRequest, User, UserSession

TOUCH_AFTER: Final = timedelta(seconds=60)
MAX_LISTED_REQUESTS: Final = 1000

_KEY: Final = """
SELECT id, organization_id, role, scopes, networks, expires_at, archived_at, last_used_at
FROM api_keys
WHERE key_sha256 = $1
"""
_SESSION: Final = """
SELECT s.id, s.created_at, s.expires_at, s.organization_id, s.user_id, s.impersonator_id, s.by_provider, m.role,
  u.is_superuser AND NOT s.by_provider AS is_superuser, o.support_may_write,
  s.impersonator_id IS NULL AND NOT s.by_provider AND o.second_factor_due_at <= $2 AND NOT EXISTS (
    SELECT FROM second_factors f WHERE f.user_id = s.user_id AND f.confirmed_at IS NOT NULL
  ) AS lacks_second_factor,
  s.impersonator_id IS NULL AND NOT s.by_provider AND m.role <> 'owner' AND NOT u.is_superuser AND EXISTS (
    SELECT FROM identity_providers p WHERE p.organization_id = s.organization_id AND p.is_required
  ) AS lacks_provider
FROM user_sessions s
JOIN organizations o ON o.id = s.organization_id
JOIN users u ON u.id = s.user_id
JOIN members m ON m.user_id = s.user_id AND m.organization_id = s.organization_id
WHERE s.token_sha256 = $1 AND s.revoked_at IS NULL AND s.expires_at > $2
"""


async def find_key(reads: DirectReadPool, key_sha256: bytes) -> asyncpg.Record | None:
    """Returns the key's columns that decide what a request with it may do."""
    return await reads.fetch_row(_KEY, key_sha256)


async def find_session(reads: DirectReadPool, token_sha256: bytes, now: datetime) -> asyncpg.Record | None:
    """Returns the person, role and organization of a valid session."""
    return await reads.fetch_row(_SESSION, token_sha256, now)


async def extend_session(engine: AsyncEngine, session_id: int, expires_at: datetime) -> None:
    """Lets a session end later, unless another request does so now; ``engine`` is for single statements."""
    free = (
        select(UserSession.id)
        .where(UserSession.id == session_id, UserSession.expires_at < expires_at)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    async with engine.begin() as connection:
        await connection.execute(update(UserSession).where(UserSession.id == free).values(expires_at=expires_at))


async def mark_key_used(engine: AsyncEngine, key_id: int, now: datetime, *, skip_locked: bool) -> bool:
    """Sets ``last_used_at`` if it is older than a minute; ``engine`` is for single statements. Returns True if it wrote the row.

    With ``skip_locked``, skips a row that another transaction holds.
    """
    is_due = (ApiKey.id == key_id, or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at <= now - TOUCH_AFTER))
    free = select(ApiKey.id).where(*is_due).with_for_update(skip_locked=True).scalar_subquery()
    conditions = (ApiKey.id == free,) if skip_locked else is_due
    statement = update(ApiKey).where(*conditions).values(last_used_at=now).returning(ApiKey.id)
    async with engine.begin() as connection:
        return (await connection.execute(statement)).scalar_one_or_none() is not None


async def spend_attempt(
    session: AsyncSession, token_sha256: bytes, max_attempts: int, now: datetime
) -> SignInChallenge | None:
    """Counts a code for a challenge before it is looked at, so that parallel guesses count; None when it is over."""
    return await session.scalar(
        update(SignInChallenge)
        .where(SignInChallenge.token_sha256 == token_sha256, SignInChallenge.expires_at > now)
        .where(SignInChallenge.attempts < max_attempts)
        .values(attempts=SignInChallenge.attempts + 1)
        .returning(SignInChallenge)
    )


async def delete_challenge(session: AsyncSession, challenge_id: int) -> bool:
    """Ends an answered challenge; of two answers at once, one gets it."""
    statement = delete(SignInChallenge).where(SignInChallenge.id == challenge_id).returning(SignInChallenge.id)
    return await session.scalar(statement) is not None


async def insert_signup_request(
    session: AsyncSession, email: str, name: str | None, organization_name: str | None, ip: str | None
) -> None:
    """Stores a request unless the address has one, for addresses with an account too: both must take as long."""
    await session.execute(
        insert(SignupRequest)
        .values(email=email, name=name, organization_name=organization_name, ip=ip)
        .on_conflict_do_nothing()
    )


async def list_signup_requests(session: AsyncSession) -> Sequence[SignupRequest]:
    """Returns the requests of addresses without an account, oldest first."""
    has_account = select(User.id).where(func.lower(User.email) == func.lower(SignupRequest.email)).exists()
    statement = select(SignupRequest).where(~has_account).order_by(SignupRequest.id).limit(MAX_LISTED_REQUESTS)
    return (await session.scalars(statement)).all()


async def take_signup_request(session: AsyncSession, email: str) -> SignupRequest | None:
    """Deletes the request of an address and returns it."""
    return await session.scalar(
        delete(SignupRequest).where(func.lower(SignupRequest.email) == func.lower(email)).returning(SignupRequest)
    )


async def delete_signup_request(session: AsyncSession, request_id: int) -> bool:
    statement = delete(SignupRequest).where(SignupRequest.id == request_id).returning(SignupRequest.id)
    return await session.scalar(statement) is not None
