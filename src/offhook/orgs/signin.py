"""Signing in and up: passwords, one-time links, and the limits on guessing either."""

from offhook.kit.clock import Clock
from offhook.kit.db import Database
from offhook.kit.ratelimit import RateLimiter
from offhook.orgs import repository, service
from offhook.orgs.audit import audit
from offhook.orgs.caller import Caller
from offhook.orgs.errors import InvalidCredentials, SignupDisabled
from offhook.orgs.passwords import Passwords
from offhook.orgs.schemas import LoginRequest, SignupRequest
from offhook.orgs.service import SignedIn
from offhook.settings import Settings

# A person mistypes a few times; behind one address there may be an office.
ACCOUNT_ATTEMPTS, ACCOUNT_WINDOW_S = 10, 300
ADDRESS_ATTEMPTS, ADDRESS_WINDOW_S = 100, 300


class SignIn:
    """Hashing takes its time, so no transaction is open during it: this opens its own, before and after."""

    def __init__(self, database: Database, clock: Clock, settings: Settings) -> None:
        self._db = database
        self._clock = clock
        self._settings = settings
        self._passwords = Passwords()
        self._per_account = RateLimiter(clock, limit=ACCOUNT_ATTEMPTS, window_s=ACCOUNT_WINDOW_S)
        self._per_address = RateLimiter(clock, limit=ADDRESS_ATTEMPTS, window_s=ADDRESS_WINDOW_S)

    async def sign_up(self, request: SignupRequest, ip: str | None) -> SignedIn:
        """A user with an organisation of their own; raises ``SignupDisabled`` (403) or ``EmailTaken`` (409)."""
        if not self._settings.signup_enabled:
            raise SignupDisabled
        password_hash = await self._passwords.hash(request.password)
        async with self._db.transaction() as session:
            user = await service.create_user(session, request.email, name=request.name, password_hash=password_hash)
            name = request.organization_name or f"{request.name or request.email.partition('@')[0]}'s organisation"
            organization_id = await service.create_organization(session, name[:200])
            await service.add_member(session, organization_id, user.id, "owner")
            signed_in = await service.sign_in(session, user, self._clock.now())
            await audit(session, _as_caller(signed_in, ip), "user.signed_up", f"user:{user.id}")
        return signed_in

    async def log_in(self, request: LoginRequest, ip: str | None) -> SignedIn:
        """A session for the right password; raises ``InvalidCredentials`` (401), too many tries ``TooManyRequests``."""
        account, address = request.email.lower(), ip or ""
        self._per_address.spend(address)
        self._per_account.spend(account)
        async with self._db.transaction() as session:
            user = await repository.user_by_email(session, request.email)
        if not await self._passwords.verify(user.password_hash if user else None, request.password) or user is None:
            raise InvalidCredentials
        self._per_account.reset(account)
        self._per_address.refund(address)
        async with self._db.transaction() as session:
            signed_in = await service.sign_in(session, user, self._clock.now())
            await audit(session, _as_caller(signed_in, ip), "user.logged_in", f"user:{user.id}")
        return signed_in

    async def follow_link(self, token: str, ip: str | None) -> SignedIn:
        """A session for a one-time link; raises ``SignInLinkRefused`` (401)."""
        address = ip or ""
        self._per_address.spend(address)
        async with self._db.transaction() as session:
            signed_in = await service.sign_in_by_link(session, token, self._clock.now())
            await audit(session, _as_caller(signed_in, ip), "user.followed_link", f"user:{signed_in.user.id}")
        self._per_address.refund(address)
        return signed_in


def _as_caller(signed_in: SignedIn, ip: str | None) -> Caller:
    return Caller(
        organization_id=signed_in.organization_id,
        user_id=signed_in.user.id,
        key_id=None,
        role=signed_in.role,
        is_superuser=signed_in.user.is_superuser,
        ip=ip,
    )
