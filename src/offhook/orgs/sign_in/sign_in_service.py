"""Signing in and up: passwords, one-time links, and the limits on guessing either."""

from offhook.kit.clock import Clock
from offhook.kit.crypto import hash_token
from offhook.kit.database.database import Database
from offhook.kit.http.rate_limits import RateLimiter
from offhook.orgs import repository, service
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.errors import (
    AlreadyMember,
    InvalidCredentials,
    InvitationForSomeoneElse,
    PasswordMissing,
    SignupDisabled,
    WrongPassword,
)
from offhook.orgs.people import accounts, invitations
from offhook.orgs.people import repository as people
from offhook.orgs.people.invitations import InvitationPreview
from offhook.orgs.schemas import LoginRequest, SignupRequest
from offhook.orgs.service import SignInResult
from offhook.orgs.sign_in.passwords import PasswordService
from offhook.orgs.tables import User
from offhook.settings import Settings

# Typing errors are few per person; one address may serve a whole office.
ACCOUNT_ATTEMPTS, ACCOUNT_WINDOW_S = 10, 300
ADDRESS_ATTEMPTS, ADDRESS_WINDOW_S = 100, 300


class SignIn:
    """Signs people in and up. Hashing is slow, so no transaction is open during it; each opens before or after."""

    def __init__(self, database: Database, clock: Clock, settings: Settings) -> None:
        self._db = database
        self._clock = clock
        self._settings = settings
        self._passwords = PasswordService()
        self._per_account = RateLimiter(clock, limit=ACCOUNT_ATTEMPTS, window_s=ACCOUNT_WINDOW_S)
        self._per_address = RateLimiter(clock, limit=ADDRESS_ATTEMPTS, window_s=ADDRESS_WINDOW_S)

    async def sign_up(self, request: SignupRequest, ip: str | None) -> SignInResult:
        """Creates a user with an organization of their own; raises ``SignupDisabled`` (403) or ``EmailTaken`` (409)."""
        if not self._settings.signup_enabled:
            raise SignupDisabled
        password_hash = await self._passwords.hash_password(request.password)
        async with self._db.transaction() as session:
            user = await service.create_user(session, request.email, name=request.name, password_hash=password_hash)
            name = request.organization_name or f"{request.name or request.email.partition('@')[0]}'s organization"
            organization_id = await service.create_organization(session, name[:200])
            await service.add_member(session, organization_id, user.id, "owner")
            signed_in = await service.sign_in(session, user, self._clock.now())
            await write_audit_entry(session, _as_caller(signed_in, ip), "user.signed_up", f"user:{user.id}")
        return signed_in

    async def log_in(self, request: LoginRequest, ip: str | None) -> SignInResult:
        """Starts a session for the right password; raises ``InvalidCredentials`` (401) or ``TooManyRequests`` (429)."""
        account, address = request.email.lower(), ip or ""
        self._per_address.spend(address)
        self._per_account.spend(account)
        async with self._db.transaction() as session:
            user = await repository.user_by_email(session, request.email)
        if (
            not await self._passwords.verify_password(user.password_hash if user else None, request.password)
            or user is None
        ):
            raise InvalidCredentials
        self._per_account.reset(account)
        self._per_address.refund(address)
        async with self._db.transaction() as session:
            signed_in = await service.sign_in(session, user, self._clock.now())
            await write_audit_entry(session, _as_caller(signed_in, ip), "user.logged_in", f"user:{user.id}")
        return signed_in

    async def follow_link(self, token: str, ip: str | None) -> SignInResult:
        """Starts a session for a one-time link; raises ``SignInLinkRefused`` (401)."""
        address = ip or ""
        self._per_address.spend(address)
        async with self._db.transaction() as session:
            signed_in = await service.sign_in_by_link(session, token, self._clock.now())
            await write_audit_entry(
                session, _as_caller(signed_in, ip), "user.followed_link", f"user:{signed_in.user.id}"
            )
        self._per_address.refund(address)
        return signed_in

    async def look_at_invitation(self, token: str, ip: str | None) -> InvitationPreview:
        """Returns the link's preview; raises ``InvitationRefused`` (401)."""
        address = ip or ""
        self._per_address.spend(address)
        async with self._db.transaction() as session:
            invited = await invitations.preview_invitation(session, token, self._clock.now())
        self._per_address.refund(address)
        return invited

    async def accept_invitation(
        self, token: str, *, password: str | None, name: str | None, caller: Caller | None, ip: str | None
    ) -> SignInResult:
        """Joins the organization and signs in to it.

        The holder of an account proves it by being signed in (``caller``) or by its password; other people get an
        account with ``password``. Works with sign-up disabled: the invitation is the permission.
        """
        invited = await self.look_at_invitation(token, ip)
        async with self._db.transaction() as session:
            account = await repository.user_by_email(session, invited.email)
        password_hash = None
        if caller is not None:
            if account is None or caller.user_id != account.id or caller.impersonator_id is not None:
                raise InvitationForSomeoneElse
        elif account is not None:
            await self._check_password(account, password or "", ip)
        elif password is None:
            raise PasswordMissing
        else:
            password_hash = await self._passwords.hash_password(password)
        now = self._clock.now()
        async with self._db.transaction() as session:
            record = await invitations.mark_accepted(session, token, now)
            user = account or await service.create_user(
                session, invited.email, name=name or invited.name, password_hash=password_hash
            )
            if await repository.find_membership(session, record.organization_id, user.id) is not None:
                raise AlreadyMember
            await service.add_member(session, record.organization_id, user.id, record.role)
            signed_in = await service.sign_in_to(session, user, record.organization_id, record.role, now)
            data = {"invitation_id": record.id, "role": record.role}
            await write_audit_entry(session, _as_caller(signed_in, ip), "member.joined", f"user:{user.id}", data)
        return signed_in

    async def change_password(self, caller: Caller, token: str, *, current: str | None, new: str) -> None:
        """Sets the password and revokes the person's other sessions. ``current`` is required when a password exists."""
        assert caller.user_id is not None
        async with self._db.transaction() as session:
            user = await accounts.get_user(session, caller.user_id)
        if user.password_hash is not None:
            try:
                await self._check_password(user, current or "", caller.ip)
            except InvalidCredentials:
                raise WrongPassword from None
        password_hash = await self._passwords.hash_password(new)
        async with self._db.transaction() as session:
            await people.set_password(session, user.id, password_hash)
            revoked = await people.revoke_other_sessions(session, user.id, hash_token(token), self._clock.now())
            data = {"sessions_ended": revoked}
            await write_audit_entry(session, caller, "user.password_changed", f"user:{user.id}", data)

    async def _check_password(self, user: User, password: str, ip: str | None) -> None:
        """Raises ``InvalidCredentials`` unless it is this person's password; attempts are limited as in sign-in."""
        account, address = user.email.lower(), ip or ""
        self._per_address.spend(address)
        self._per_account.spend(account)
        if not await self._passwords.verify_password(user.password_hash, password):
            raise InvalidCredentials
        self._per_account.reset(account)
        self._per_address.refund(address)


def _as_caller(signed_in: SignInResult, ip: str | None) -> Caller:
    return Caller(
        organization_id=signed_in.organization_id,
        user_id=signed_in.user.id,
        key_id=None,
        role=signed_in.role,
        is_superuser=signed_in.user.is_superuser,
        ip=ip,
    )
