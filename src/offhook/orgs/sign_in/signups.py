"""Signing up: strangers ask for an account, and the operator makes the link that opens it.

Without mail nothing proves an address, so that a request alone creates no account: nobody can hold another's address, and the
answer is the same for addresses with and without an account.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.http.rate_limits import RateLimiter, network_of
from offhook.orgs import repository, service
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.errors import (
    AccountInUse,
    SignupDisabled,
    SignupRequestNotFound,
    UserNotFound,
    UserWithoutOrganization,
)
from offhook.orgs.people import repository as people
from offhook.orgs.schemas import SignupBody
from offhook.orgs.sign_in import repository as statements
from offhook.orgs.tables import SignupRequest
from offhook.settings import Settings

WINDOW_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class PersonalLink:
    """A new sign-in link; ``token`` is its secret, which is shown only now."""

    email: str
    organization_id: int
    user_id: int
    token: str
    expires_at: datetime


class SignupDesk:
    """Takes requests for accounts, limited by network and in all."""

    def __init__(self, database: Database, clock: Clock, settings: Settings) -> None:
        self._db = database
        self._is_open = settings.signup_enabled
        self._per_network = RateLimiter(clock, limit=settings.signups_per_network, window_s=WINDOW_S)
        self._in_all = RateLimiter(clock, limit=settings.signups_per_hour, window_s=WINDOW_S)

    async def request_account(self, body: SignupBody, ip: str | None) -> None:
        """Stores a request, which is not shown if the address has an account.

        Raises ``SignupDisabled`` (403) and ``TooManyRequests`` (429).
        """
        if not self._is_open:
            raise SignupDisabled
        self._per_network.spend(network_of(ip))
        self._in_all.spend("")
        async with self._db.transaction() as session:
            await statements.insert_signup_request(session, body.email, body.name, body.organization_name, ip)


async def list_requests(session: AsyncSession) -> Sequence[SignupRequest]:
    """Returns the waiting requests, oldest first."""
    return await statements.list_signup_requests(session)


async def refuse_request(session: AsyncSession, request_id: int) -> None:
    """Deletes a request; raises ``SignupRequestNotFound`` (404)."""
    if not await statements.delete_signup_request(session, request_id):
        raise SignupRequestNotFound


async def create_personal_link(
    session: AsyncSession, email: str, now: datetime, *, sets_password: bool, actor: Caller | None = None
) -> PersonalLink:
    """Returns a link for the person with this address, whose waiting request becomes an account with an organization.

    ``actor`` is the superuser who asks; without one it is the command line, which alone opens accounts with a password.
    Raises ``UserNotFound`` (404), ``AccountInUse`` (409) and ``UserWithoutOrganization`` (409).
    """
    request = await statements.take_signup_request(session, email)
    user = await repository.user_by_email(session, email)
    if user is None:
        if request is None:
            raise UserNotFound(f"No user and no open account request has the email address {email}.")
        user = await service.create_user(session, request.email, name=request.name)
        name = request.organization_name or f"{request.name or request.email.partition('@')[0]}'s organization"
        await service.add_member(session, await service.create_organization(session, name[:200]), user.id, "owner")
        sets_password = True
    else:
        user = await people.lock_user(session, user.id) or user
        if actor is not None and user.password_hash is not None:
            raise AccountInUse
    membership = await repository.first_membership(session, user.id)
    if membership is None:
        raise UserWithoutOrganization
    organization_id = membership.organization_id
    token = await service.create_sign_in_link(
        session, organization_id=organization_id, user_id=user.id, now=now, sets_password=sets_password
    )
    as_actor = Caller(
        organization_id=organization_id,
        user_id=actor.user_id if actor else None,
        key_id=None,
        role="owner",
        is_superuser=True,
        ip=actor.ip if actor else None,
    )
    data = {"sets_password": sets_password, "by": "superuser" if actor else "command line"}
    await write_audit_entry(session, as_actor, "sign_in_link.created", f"user:{user.id}", data)
    return PersonalLink(user.email, organization_id, user.id, token, now + service.LINK_LIFETIME)
