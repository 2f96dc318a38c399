"""A person's own account: switching between organizations, ending sessions, and a new password."""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import hash_token
from offhook.orgs import repository, service
from offhook.orgs.caller import Caller
from offhook.orgs.errors import InvalidToken, OrganizationNotAccessible, SessionNotFound, UserNotFound
from offhook.orgs.identity_provider.providers import is_domain_allowed
from offhook.orgs.people import repository as people
from offhook.orgs.second_factor import repository as second_factors
from offhook.orgs.service import SignInResult
from offhook.orgs.tables import User


async def get_user(session: AsyncSession, user_id: int) -> User:
    """Returns the user; raises :class:`UserNotFound` (404)."""
    user = await people.find_user(session, user_id)
    if user is None:
        raise UserNotFound
    return user


async def lock_caller(session: AsyncSession, caller: Caller, now: datetime) -> User:
    """Returns the person behind a session, locked. The session is valid still: a new password may have ended it since the
    request was let in.

    Raises ``InvalidToken`` (401) and ``OrganizationClosed`` (409).
    """
    assert caller.user_id is not None
    # The organization before the person, as who removes a member or closes it: otherwise the two wait for each other.
    await service.require_open(session, caller.organization_id)
    user = await people.lock_user(session, caller.user_id)
    if user is None or not await people.has_session(session, user.id, caller.session_id, now):
        raise InvalidToken
    return user


async def change_name(session: AsyncSession, user_id: int, name: str) -> User:
    """Returns the user with the new name; raises :class:`UserNotFound` (404)."""
    user = await get_user(session, user_id)
    user.name = name
    return user


async def has_way_in_beside_links(session: AsyncSession, user: User) -> bool:
    """Returns whether the account has something that a session must not be worth more than: a password, a second factor, or
    an identity provider of an organization that signs the person in."""
    if user.password_hash is not None or await second_factors.has_factor(session, user.id):
        return True
    providers = await people.list_identity_providers(session, user.id)
    return any(is_linked or is_domain_allowed(provider, user.email) for provider, is_linked in providers)


async def switch_organization(
    session: AsyncSession, caller: Caller, token: str, organization_id: int, now: datetime
) -> SignInResult:
    """Starts a session in another organization of the person and ends the one of ``token``.

    Raises ``InvalidToken`` (401) and ``OrganizationNotAccessible`` (404).
    """
    if await repository.is_closed(session, organization_id):
        raise OrganizationNotAccessible
    person = await lock_caller(session, caller, now)
    membership = await repository.find_membership(session, organization_id, person.id)
    if membership is None:
        raise OrganizationNotAccessible
    await service.end_session(session, token, now)
    user, role = membership
    return await service.sign_in_to(session, user, organization_id, role, now, signed_in_at=caller.signed_in_at)


async def end_session(
    session: AsyncSession, user_id: int, session_id: int, now: datetime, *, only_in: int | None = None
) -> None:
    """Revokes one session of this person, or of theirs in one organization; raises :class:`SessionNotFound` (404) when none is valid."""
    if not await people.revoke_session(session, user_id, session_id, now, only_in):
        raise SessionNotFound


async def replace_password(
    session: AsyncSession, user_id: int, password_hash: str, *, keep_token: str, now: datetime
) -> int:
    """Sets the password and ends the person's links, sign-ins under way and other sessions; returns how many sessions that
    were. The person is locked before: what lets them in must not change between the check and this."""
    await people.set_password(session, user_id, password_hash)
    await repository.revoke_links(session, user_id, now)
    await second_factors.delete_challenges(session, user_id)
    return await people.revoke_other_sessions(session, user_id, hash_token(keep_token), now)
