"""Organizations, their people, sessions and API keys: the rules, without HTTP."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import NotFound
from offhook.kit.crypto import hash_token, new_token
from offhook.kit.database.database_clock import time_of
from offhook.orgs import repository
from offhook.orgs.access_rules import SCOPES
from offhook.orgs.errors import (
    ApiKeyNotFound,
    EmailTaken,
    InvalidCredentials,
    OrganizationClosed,
    SignInLinkRefused,
    UserNotFound,
)
from offhook.orgs.people import repository as people
from offhook.orgs.tables import ApiKey, Member, Organization, SignInLink, User, UserSession
from offhook.settings import Settings

# In the audit log: what was done in the operator's shell.
BY_COMMAND: Final = {"by": "command line"}
# A session ends when it is not used for this long, and after its lifetime in any case. Three days cover a weekend.
SESSION_IDLE = timedelta(hours=72)
SESSION_LIFETIME = timedelta(days=30)
LINK_LIFETIME = timedelta(hours=24)
KEY_PREFIX = "ohk_"
KEY_PREFIX_LENGTH = 12
DEFAULT_ORGANIZATION = "Default"


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key; ``key`` is its secret, which is shown only now."""

    record: ApiKey
    key: str


@dataclass(frozen=True, slots=True)
class SignInResult:
    """A new session: ``token`` is its secret."""

    token: str
    user: User
    organization_id: int
    role: str


@dataclass(frozen=True, slots=True)
class FirstStart:
    """The first organization, and a one-time token for ``{base}/sign-in?token=…`` while no owner has a password."""

    organization_id: int
    owner_email: str
    link_token: str | None


async def first_start(session: AsyncSession, settings: Settings) -> FirstStart:
    """Returns the first organization and its owner, creating them if needed.

    While none of its owners has a password there is a new sign-in token for 24 hours too: who reads the log of a later
    start must not become the owner.

    Two servers that start at once create one organization: the second waits for the first one's transaction.
    """
    now = time_of(session)
    await repository.lock_first_start(session)
    first_owner = await repository.first_owner(session)
    if first_owner is None:
        organization_id = await create_organization(session, DEFAULT_ORGANIZATION)
        # A placeholder without a mailbox: the owner signs in by link.
        host = urlsplit(settings.public_url or "").hostname or "localhost"
        user = await create_user(session, f"owner@{host}", name="Owner")
        await add_member(session, organization_id, user.id, "owner")
    else:
        organization_id, user = first_owner
        # A first password that is being set ends the links that are there then, not the one that follows.
        await people.lock_organization(session, organization_id)
        await people.lock_user(session, user.id)
    link = None
    if not await repository.owner_has_password(session, organization_id):
        link = await create_sign_in_link(session, organization_id=organization_id, user_id=user.id, now=now)
    return FirstStart(organization_id, user.email, link)


async def get_organization(session: AsyncSession, organization_id: int) -> Organization:
    """Returns the organization; raises ``NotFound``."""
    organization = await repository.find_organization(session, organization_id)
    if organization is None:
        raise NotFound
    return organization


async def find_organization(session: AsyncSession, id_or_name: str) -> Organization:
    """Returns an organization by number or exact name. Raises ``NotFound``, also for an ambiguous name."""
    if re.fullmatch(r"[0-9]{1,9}", id_or_name):
        by_number = await repository.find_organization(session, int(id_or_name))
        if by_number is None:
            raise NotFound(f"No organization has the id {id_or_name}.")
        return by_number
    organizations = await repository.organizations_named(session, id_or_name)
    if len(organizations) != 1:
        how_many = "No organization is" if not organizations else "Several organizations are"
        raise NotFound(f"{how_many} named {id_or_name!r}. Use its id.")
    return organizations[0]


async def create_organization(session: AsyncSession, name: str) -> int:
    organization = Organization(name=name)
    session.add(organization)
    await session.flush()
    return organization.id


async def create_user(
    session: AsyncSession, email: str, *, name: str | None = None, password_hash: str | None = None
) -> User:
    """Creates a user; raises :class:`EmailTaken`. Addresses that differ only in case are equal."""
    user = await repository.insert_user(session, email=email, name=name, password_hash=password_hash)
    if user is None:
        raise EmailTaken
    return user


async def require_open(session: AsyncSession, organization_id: int) -> None:
    """Raises ``OrganizationClosed`` (409) while a job deletes the organization. Until this transaction ends it stays open."""
    if await repository.is_closed(session, organization_id):
        raise OrganizationClosed


async def add_member(session: AsyncSession, organization_id: int, user_id: int, role: str) -> None:
    """Adds a member. Raises ``OrganizationClosed`` (409)."""
    await require_open(session, organization_id)
    session.add(Member(organization_id=organization_id, user_id=user_id, role=role))
    await session.flush()


async def start_session(
    session: AsyncSession,
    *,
    organization_id: int,
    user_id: int,
    now: datetime,
    lifetime: timedelta = SESSION_IDLE,
    impersonator_id: int | None = None,
    by_provider: bool = False,
    signed_in_at: datetime | None = None,
) -> str:
    """Creates a session that ends after ``lifetime`` without use, and returns its token. A superuser's in another person's
    name ends then in any case. ``signed_in_at`` is the sign-in that it continues: a session that another one opened is
    no fresh one."""
    token = new_token()
    started_at = signed_in_at or now
    session.add(
        UserSession(
            token_sha256=hash_token(token),
            user_id=user_id,
            organization_id=organization_id,
            impersonator_id=impersonator_id,
            by_provider=by_provider,
            created_at=started_at,
            expires_at=min(now + lifetime, started_at + SESSION_LIFETIME),
        )
    )
    await session.flush()
    return token


async def end_session(session: AsyncSession, token: str, now: datetime) -> None:
    """Revokes a session; does nothing when it is unknown or already ended."""
    await repository.revoke_session(session, hash_token(token), now)


async def create_sign_in_link(
    session: AsyncSession,
    *,
    organization_id: int,
    user_id: int,
    now: datetime,
    sets_password: bool = False,
    created_by: int | None = None,
) -> str:
    """Returns a token that signs this user in once within 24 hours, and ends the person's earlier links.

    With ``sets_password`` its holder chooses a new password. ``created_by`` is the member of the organization who made it.
    """
    await repository.revoke_links(session, user_id, now)
    token = new_token()
    session.add(
        SignInLink(
            token_sha256=hash_token(token),
            user_id=user_id,
            organization_id=organization_id,
            sets_password=sets_password,
            created_by=created_by,
            created_at=now,
            expires_at=now + LINK_LIFETIME,
        )
    )
    await session.flush()
    return token


async def spend_sign_in_link(session: AsyncSession, token: str, now: datetime) -> tuple[User, int, str]:
    """Spends a one-time link and returns its person, organization and role; raises :class:`SignInLinkRefused` when it is
    unknown, used or expired."""
    spent = await repository.spend_link(session, hash_token(token), now)
    if spent is None:
        raise SignInLinkRefused
    organization_id, user_id = spent
    membership = await repository.find_membership(session, organization_id, user_id)
    if membership is None:
        raise SignInLinkRefused
    return membership[0], organization_id, membership[1]


async def home_of(session: AsyncSession, user: User) -> tuple[int, str]:
    """Returns the organization that the user joined first, and the role there; raises ``InvalidCredentials`` (401)."""
    membership = await repository.first_membership(session, user.id)
    if membership is None:
        raise InvalidCredentials
    return membership.organization_id, membership.role


async def sign_in_to(
    session: AsyncSession,
    user: User,
    organization_id: int,
    role: str,
    now: datetime,
    *,
    by_provider: bool = False,
    signed_in_at: datetime | None = None,
) -> SignInResult:
    """Starts a session in this organization, to which the user is known to belong; with ``signed_in_at`` out of another one."""
    token = await start_session(
        session,
        organization_id=organization_id,
        user_id=user.id,
        now=now,
        by_provider=by_provider,
        signed_in_at=signed_in_at,
    )
    return SignInResult(token, user, organization_id, role)


async def create_key(
    session: AsyncSession,
    *,
    organization_id: int,
    name: str,
    role: str = "admin",
    scopes: Sequence[str] = SCOPES,
    networks: Sequence[str] = (),
    expires_at: datetime | None = None,
    created_by: int | None = None,
) -> NewKey:
    """Creates an API key; only its SHA-256 and its first characters are stored. Raises ``OrganizationClosed`` (409)."""
    await require_open(session, organization_id)
    key = new_token(KEY_PREFIX)
    record = ApiKey(
        organization_id=organization_id,
        name=name,
        prefix=key[:KEY_PREFIX_LENGTH],
        key_sha256=hash_token(key),
        role=role,
        scopes=[scope for scope in SCOPES if scope in scopes],
        networks=list(networks),
        expires_at=expires_at,
        created_by=created_by,
    )
    session.add(record)
    await session.flush()
    await session.refresh(record)
    return NewKey(record, key)


async def set_key_archived(
    session: AsyncSession, organization_id: int, key_id: int, archived_at: datetime | None
) -> tuple[ApiKey, bool]:
    """Archives a key, or reactivates it with None; returns it and True if that changed it."""
    record = await repository.key_by_id(session, organization_id, key_id)
    if record is None:
        raise ApiKeyNotFound
    changed = (record.archived_at is None) != (archived_at is None)
    if changed:
        record.archived_at = archived_at
    return record, changed


async def grant_superuser(session: AsyncSession, email: str) -> User:
    """Makes the user with this address a superuser; raises :class:`UserNotFound`."""
    user = await repository.user_by_email(session, email)
    if user is None:
        raise UserNotFound(f"No user has the email address {email}.")
    user.is_superuser = True
    return user


async def concurrency_limit(session: AsyncSession, organization_id: int, settings: Settings) -> int:
    """Returns the limit of concurrent calls: the organization's own, or the installation's; none while it is deleted."""
    organization = await repository.find_organization(session, organization_id)
    if organization is not None and organization.closed_at is not None:
        return 0
    limit = organization.concurrency_limit if organization else None
    return limit if limit is not None else settings.org_concurrency_limit
