"""Statements on organizations, people, keys and repeated requests."""

from datetime import datetime, timedelta

from sqlalchemy import Interval, delete, exists, func, or_, select, text, type_coerce, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.orgs.tables import (
    ApiKey,
    IdempotencyKey,
    Member,
    Organization,
    SignInChallenge,
    SignInLink,
    SignupRequest,
    User,
    UserSession,
)

_FIRST_START_LOCK = 0x0FF400C


async def find_organization(session: AsyncSession, organization_id: int) -> Organization | None:
    return await session.get(Organization, organization_id)


async def is_closed(session: AsyncSession, organization_id: int) -> bool:
    """Returns whether the organization is closed or gone. It cannot be closed before this transaction has ended."""
    found = await session.scalar(
        select(Organization.closed_at.is_(None))
        .where(Organization.id == organization_id)
        .with_for_update(read=True, key_share=True)
    )
    return not found


async def organizations_named(session: AsyncSession, name: str) -> list[Organization]:
    return list(await session.scalars(select(Organization).where(Organization.name == name).limit(2)))


async def key_by_id(session: AsyncSession, organization_id: int, key_id: int) -> ApiKey | None:
    return await session.scalar(
        select(ApiKey).where(ApiKey.id == key_id, ApiKey.organization_id == organization_id).with_for_update()
    )


async def list_keys(session: AsyncSession, organization_id: int, *, include_archived: bool) -> list[ApiKey]:
    statement = select(ApiKey).where(ApiKey.organization_id == organization_id).order_by(ApiKey.id.desc())
    if not include_archived:
        statement = statement.where(ApiKey.archived_at.is_(None))
    return list(await session.scalars(statement))


async def find_membership(session: AsyncSession, organization_id: int, user_id: int) -> tuple[User, str] | None:
    """Returns the user and the role, when the user belongs to the organization."""
    statement = (
        select(User, Member.role)
        .join(Member, Member.user_id == User.id)
        .where(Member.organization_id == organization_id, Member.user_id == user_id)
    )
    row = (await session.execute(statement)).first()
    return None if row is None else (row[0], row[1])


async def role_in_session(
    session: AsyncSession, organization_id: int, user_id: int | None, session_id: int | None, now: datetime
) -> str | None:
    """Returns the member's current role; None without a membership, or if the session was ended or has expired."""
    lives = exists().where(
        UserSession.id == session_id,
        UserSession.user_id == Member.user_id,
        UserSession.revoked_at.is_(None),
        UserSession.expires_at > now,
    )
    return await session.scalar(
        select(Member.role).where(Member.organization_id == organization_id, Member.user_id == user_id, lives)
    )


async def is_key_usable(session: AsyncSession, organization_id: int, key_id: int, now: datetime) -> bool:
    """Returns whether the API key is neither archived nor expired."""
    statement = select(ApiKey.id).where(
        ApiKey.organization_id == organization_id,
        ApiKey.id == key_id,
        ApiKey.archived_at.is_(None),
        or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > now),
    )
    return await session.scalar(statement) is not None


async def insert_idempotency_key(
    session: AsyncSession, organization_id: int, scope: str, key: str, fingerprint: bytes
) -> int | None:
    """Returns the id of the new row, or None when the key is in use."""
    return await session.scalar(
        insert(IdempotencyKey)
        .values(organization_id=organization_id, scope=scope, key=key, body_sha256=fingerprint)
        .on_conflict_do_nothing()
        .returning(IdempotencyKey.id)
    )


async def lock_idempotency_key(
    session: AsyncSession, organization_id: int, scope: str, key: str
) -> tuple[IdempotencyKey, timedelta] | None:
    """Returns the key's row, locked until the transaction ends, and its age."""
    statement = (
        select(IdempotencyKey, type_coerce(func.now() - IdempotencyKey.created_at, Interval))
        .where(
            IdempotencyKey.organization_id == organization_id,
            IdempotencyKey.scope == scope,
            IdempotencyKey.key == key,
        )
        .with_for_update(of=IdempotencyKey)
    )
    row = (await session.execute(statement)).first()
    return None if row is None else (row[0], row[1])


async def restart_idempotency_key(session: AsyncSession, record: IdempotencyKey, fingerprint: bytes) -> None:
    """Gives an expired key to a new request."""
    record.body_sha256, record.response, record.created_at = fingerprint, None, func.now()
    await session.flush()


async def store_idempotent_response(
    session: AsyncSession, organization_id: int, row_id: int, response: JsonObject
) -> None:
    await session.execute(
        update(IdempotencyKey)
        .where(IdempotencyKey.id == row_id, IdempotencyKey.organization_id == organization_id)
        .values(response=response)
    )


async def delete_idempotency_key(session: AsyncSession, organization_id: int, row_id: int) -> None:
    await session.execute(
        delete(IdempotencyKey).where(IdempotencyKey.id == row_id, IdempotencyKey.organization_id == organization_id)
    )


# Below: reads across organizations, by a secret or an address, before the caller's organization is known.


async def user_by_email(session: AsyncSession, email: str) -> User | None:
    return await session.scalar(select(User).where(func.lower(User.email) == func.lower(email)))


async def insert_user(session: AsyncSession, *, email: str, name: str | None, password_hash: str | None) -> User | None:
    """Returns the new user, or None when the address is taken, also by a concurrent transaction."""
    statement = (
        insert(User)
        .values(email=email, name=name, password_hash=password_hash)
        .on_conflict_do_nothing()
        .returning(User)
    )
    return await session.scalar(statement)


async def first_membership(session: AsyncSession, user_id: int) -> Member | None:
    return await session.scalar(
        select(Member).where(Member.user_id == user_id).order_by(Member.created_at, Member.organization_id).limit(1)
    )


async def first_owner(session: AsyncSession) -> tuple[int, User] | None:
    statement = (
        select(Member.organization_id, User)
        .join(User, User.id == Member.user_id)
        .where(Member.role == "owner")
        .order_by(Member.organization_id, User.id)
        .limit(1)
    )
    row = (await session.execute(statement)).first()
    return None if row is None else (row[0], row[1])


async def owner_has_password(session: AsyncSession, organization_id: int) -> bool:
    statement = (
        select(User.id)
        .join(Member, Member.user_id == User.id)
        .where(Member.organization_id == organization_id, Member.role == "owner", User.password_hash.is_not(None))
        .limit(1)
    )
    return await session.scalar(statement) is not None


async def find_link(session: AsyncSession, token_sha256: bytes, now: datetime) -> tuple[User, SignInLink] | None:
    """Returns a valid link with its person."""
    statement = (
        select(User, SignInLink)
        .join(SignInLink, SignInLink.user_id == User.id)
        .where(SignInLink.token_sha256 == token_sha256, SignInLink.used_at.is_(None), SignInLink.expires_at > now)
    )
    row = (await session.execute(statement)).first()
    return None if row is None else (row[0], row[1])


async def revoke_links(session: AsyncSession, user_id: int, now: datetime) -> None:
    """Ends the person's unused sign-in links."""
    await session.execute(
        update(SignInLink)
        .where(SignInLink.user_id == user_id, SignInLink.used_at.is_(None), SignInLink.expires_at > now)
        .values(expires_at=now)
    )


async def spend_link(session: AsyncSession, token_sha256: bytes, now: datetime) -> tuple[int, int] | None:
    """Spends a valid link and returns its (organization, user) ids; of two requests at once, one gets it."""
    statement = (
        update(SignInLink)
        .where(SignInLink.token_sha256 == token_sha256, SignInLink.used_at.is_(None), SignInLink.expires_at > now)
        .values(used_at=now)
        .returning(SignInLink.organization_id, SignInLink.user_id)
    )
    row = (await session.execute(statement)).first()
    return None if row is None else (row[0], row[1])


async def revoke_session(session: AsyncSession, token_sha256: bytes, now: datetime) -> None:
    await session.execute(
        update(UserSession)
        .where(UserSession.token_sha256 == token_sha256, UserSession.revoked_at.is_(None))
        .values(revoked_at=now)
    )


async def lock_first_start(session: AsyncSession) -> None:
    """Takes a lock of the whole installation until the transaction ends."""
    await session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _FIRST_START_LOCK})


async def delete_ended(session: AsyncSession, before: datetime) -> None:
    """Deletes sessions, links and challenges that ended before this time."""
    await session.execute(delete(UserSession).where(UserSession.expires_at < before))
    await session.execute(delete(UserSession).where(UserSession.revoked_at < before))
    await session.execute(delete(SignInLink).where(SignInLink.expires_at < before))
    await session.execute(delete(SignInChallenge).where(SignInChallenge.expires_at < before))


async def delete_signup_requests(session: AsyncSession, before: datetime) -> None:
    await session.execute(delete(SignupRequest).where(SignupRequest.created_at < before))


async def delete_expired_keys(session: AsyncSession, lifetime: timedelta) -> None:
    """Deletes idempotency keys that are older than ``lifetime``."""
    await session.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at < func.now() - lifetime))
