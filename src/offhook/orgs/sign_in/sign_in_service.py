"""Signing in: passwords, one-time links, and the limits on guessing either."""

from datetime import datetime

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.crypto import hash_token
from offhook.kit.database.database import Database
from offhook.kit.http.rate_limits import RateLimiter, network_of
from offhook.kit.tasks import TaskTracker
from offhook.orgs import repository, service
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.errors import (
    AccountJustOpened,
    AlreadyMember,
    EmailTaken,
    InvalidCredentials,
    InvitationForSomeoneElse,
    PasswordMissing,
    ProviderSessionRefused,
    SignInFirst,
    SignInLinkRefused,
    WrongPassword,
)
from offhook.orgs.fresh_sign_in import check_fresh_sign_in
from offhook.orgs.people import accounts, invitations
from offhook.orgs.people import repository as people
from offhook.orgs.people.invitations import InvitationPreview
from offhook.orgs.schemas import LoginRequest
from offhook.orgs.second_factor import repository as second_factors
from offhook.orgs.service import SignInResult
from offhook.orgs.sign_in.password_rules import check_password_strength
from offhook.orgs.sign_in.passwords import PasswordService
from offhook.orgs.sign_in.second_step import Challenge, FirstStep, SignInSteps, as_caller
from offhook.orgs.tables import AuditEntry, User

log = structlog.get_logger(__name__)

# Typing errors are few per person; one address may serve a whole office. Attempts on an account count for each network, so
# that a stranger who guesses locks out only their own.
ACCOUNT_ATTEMPTS, ACCOUNT_WINDOW_S = 10, 300
ADDRESS_ATTEMPTS, ADDRESS_WINDOW_S = 100, 300


class SignIn:
    """Signs people in. Hashing is slow, so no transaction is open during it; each opens before or after."""

    def __init__(self, database: Database, clock: Clock, steps: SignInSteps) -> None:
        self._db = database
        self._steps = steps
        self._clock = clock
        self._tasks = TaskTracker()
        self._passwords = PasswordService()
        self._per_account = RateLimiter(clock, limit=ACCOUNT_ATTEMPTS, window_s=ACCOUNT_WINDOW_S)
        self._per_address = RateLimiter(clock, limit=ADDRESS_ATTEMPTS, window_s=ADDRESS_WINDOW_S)

    async def close(self) -> None:
        await self._tasks.close()

    async def finish(self) -> None:
        """Waits until failed attempts are recorded."""
        await self._tasks.finish()

    async def log_in(self, request: LoginRequest, ip: str | None) -> SignInResult | Challenge:
        """Takes a right password as the first step; raises ``InvalidCredentials`` (401) or ``TooManyRequests`` (429)."""
        async with self._db.transaction() as session:
            user = await repository.user_by_email(session, request.email)
        await self._check_password(user, request.email, request.password, ip)
        assert user is not None
        async with self._db.transaction() as session:
            organization_id, role = await service.home_of(session, user)
            await service.require_open(session, organization_id)
            user = await _lock_proven(session, user)
            step = FirstStep(user, organization_id, role, "user.logged_in")
            return await self._steps.pass_first_step(session, step, ip)

    async def follow_link(self, token: str, new_password: str | None, ip: str | None) -> SignInResult | Challenge:
        """Takes a one-time link as the first step. A link that sets the password does so when a session starts: whoever has
        only the link, and not the second factor, changes nothing.

        Raises ``SignInLinkRefused`` (401), ``PasswordMissing`` and ``PasswordTooCommon`` (422); only the first one means
        that the link is spent.
        """
        network = network_of(ip)
        self._per_address.spend(network)
        async with self._db.transaction() as session:
            found = await repository.find_link(session, hash_token(token), self._clock.now())
        if found is None:
            raise SignInLinkRefused
        self._per_address.refund(network)
        user, link = found
        password_hash = await self._hash_new_password(new_password, user.email) if link.sets_password else None
        async with self._db.transaction() as session:
            # Before the link, as who sets a password: otherwise the two wait for each other.
            await service.require_open(session, link.organization_id)
            await people.lock_user(session, user.id)
            user, organization_id, role = await service.spend_sign_in_link(session, token, self._clock.now())
            step = FirstStep(user, organization_id, role, "user.followed_link", password_hash)
            return await self._steps.pass_first_step(session, step, ip)

    async def look_at_invitation(self, token: str, ip: str | None) -> InvitationPreview:
        """Returns the link's preview; raises ``InvitationRefused`` (401)."""
        network = network_of(ip)
        self._per_address.spend(network)
        async with self._db.transaction() as session:
            invited = await invitations.preview_invitation(session, token, self._clock.now())
        self._per_address.refund(network)
        return invited

    async def accept_invitation(
        self, token: str, *, password: str | None, name: str | None, caller: Caller | None, ip: str | None
    ) -> SignInResult:
        """Joins the organization and signs in to it.

        The holder of an account proves it by being signed in (``caller``) or by its password, with a second factor only by
        being signed in. Other people choose a password: those without an account, and those whose account opens nothing,
        because the link is worth more than it. Works with sign-up disabled: the invitation is the permission.

        Raises ``AccountJustOpened`` (409) when another invitation opened the account since: its holder is who came first.
        """
        invited = await self.look_at_invitation(token, ip)
        async with self._db.transaction() as session:
            account = await repository.user_by_email(session, invited.email)
            is_in_use = account is not None and await people.is_account_in_use(session, account)
        password_hash = None
        if caller is not None:
            _check_invited(caller, account)
        elif account is not None and is_in_use:
            await self._check_password(account, account.email, password or "", ip)
        else:
            password_hash = await self._hash_new_password(password, invited.email)
        now = self._clock.now()
        async with self._db.transaction() as session:
            # The organization first, as who removes the inviter: otherwise the two wait for each other.
            await service.require_open(session, invited.organization_id)
            record = await invitations.mark_accepted(session, token, now)
            if caller is not None:
                user = await accounts.lock_caller(session, caller, now)
            elif password_hash is not None:
                user = await _open_account(session, account, invited, name=name, password_hash=password_hash, now=now)
            else:
                assert account is not None
                user = await _lock_proven(session, account)
                if await second_factors.has_factor(session, user.id):
                    raise SignInFirst
            if await repository.find_membership(session, record.organization_id, user.id) is not None:
                raise AlreadyMember
            await service.add_member(session, record.organization_id, user.id, record.role)
            # A link that an admin of another organization made must not lead into this one, nor one that is made right now.
            await repository.revoke_links(session, user.id, now)
            signed_in_at = caller.signed_in_at if caller is not None else None
            signed_in = await service.sign_in_to(
                session, user, record.organization_id, record.role, now, signed_in_at=signed_in_at
            )
            data = {"invitation_id": record.id, "role": record.role}
            await write_audit_entry(session, as_caller(signed_in, ip), "member.joined", f"user:{user.id}", data)
        return signed_in

    async def confirm_person(self, caller: Caller, password: str | None) -> User:
        """Returns the person behind a session, who has to give their password if they have one.

        Raises ``WrongPassword`` (403) and ``TooManyRequests`` (429).
        """
        assert caller.user_id is not None
        async with self._db.transaction() as session:
            user = await accounts.get_user(session, caller.user_id)
        if user.password_hash is not None:
            try:
                await self._check_password(user, user.email, password or "", caller.ip)
            except InvalidCredentials:
                raise WrongPassword from None
        return user

    async def confirm_before_change(self, caller: Caller, password: str | None) -> User:
        """Returns the person, before what they sign in with changes: with their password or, without one, a fresh sign-in.

        Raises ``WrongPassword`` and ``FreshSignInNeeded`` (403), and ``TooManyRequests`` (429).
        """
        user = await self.confirm_person(caller, password)
        if user.password_hash is None:
            check_fresh_sign_in(caller, self._clock.now())
        return user

    async def change_password(self, caller: Caller, token: str, *, current: str | None, new: str) -> None:
        """Sets the password and revokes the person's other sessions and links. ``current`` is required when a password
        exists. The first one needs a fresh sign-in if the account has another way in; if it has none, the session is all
        that there is of it, and its link is spent.

        Raises ``InvalidToken`` (401), ``WrongPassword`` and ``FreshSignInNeeded`` (403), and ``TooManyRequests`` (429).
        """
        confirmed = await self.confirm_person(caller, current)
        async with self._db.transaction() as session:
            await self._confirm_first_password(session, caller, confirmed)
        password_hash = await self._hash_new_password(new, confirmed.email)
        now = self._clock.now()
        async with self._db.transaction() as session:
            user = await accounts.lock_caller(session, caller, now)
            if user.password_hash != confirmed.password_hash:
                raise WrongPassword
            await self._confirm_first_password(session, caller, user)
            ended = await accounts.replace_password(session, user.id, password_hash, keep_token=token, now=now)
            data = {"sessions_ended": ended}
            await write_audit_entry(session, caller, "user.password_changed", f"user:{user.id}", data)

    async def _confirm_first_password(self, session: AsyncSession, caller: Caller, user: User) -> None:
        if user.password_hash is None and await accounts.has_way_in_beside_links(session, user):
            check_fresh_sign_in(caller, self._clock.now())

    async def _hash_new_password(self, password: str | None, email: str) -> str:
        if password is None:
            raise PasswordMissing
        check_password_strength(password, email)
        return await self._passwords.hash_password(password)

    async def _check_password(self, user: User | None, email: str, password: str, ip: str | None) -> None:
        """Raises ``InvalidCredentials`` unless it is this person's password; attempts are limited."""
        network = network_of(ip)
        account = f"{email.lower()} {network}"
        self._per_address.spend(network)
        self._per_account.spend(account)
        if not await self._passwords.verify_password(user.password_hash if user else None, password) or user is None:
            # Beside the answer, whose time must not tell whether there is an account.
            self._tasks.start(self._record_failure(user, ip), name="failed-sign-in")
            raise InvalidCredentials
        self._per_account.reset(account)
        self._per_address.refund(network)

    async def _record_failure(self, user: User | None, ip: str | None) -> None:
        log.warning("sign_in_failed", user_id=user.id if user else None, ip=ip)
        if user is None:
            return
        async with self._db.transaction() as session:
            membership = await repository.first_membership(session, user.id)
            if membership is None:
                return
            session.add(
                AuditEntry(
                    organization_id=membership.organization_id,
                    action="user.sign_in_failed",
                    target=f"user:{user.id}",
                    ip=ip,
                    data={},
                )
            )


def _check_invited(caller: Caller, account: User | None) -> None:
    if caller.by_provider:
        # Another organization's provider says who this is: no proof for this one.
        raise ProviderSessionRefused
    if account is None or caller.user_id != account.id or caller.impersonator_id is not None:
        raise InvitationForSomeoneElse


async def _lock_proven(session: AsyncSession, proven: User) -> User:
    """Returns the person whose password was right, locked; raises ``InvalidCredentials`` (401) if it was replaced since."""
    user = await people.lock_user(session, proven.id)
    if user is None or user.password_hash != proven.password_hash:
        raise InvalidCredentials
    return user


async def _open_account(
    session: AsyncSession,
    account: User | None,
    invited: InvitationPreview,
    *,
    name: str | None,
    password_hash: str,
    now: datetime,
) -> User:
    """Returns the invited person with a new password: in a new account, or in one that opens nothing and whose earlier
    holder loses it.

    Raises ``AccountJustOpened`` (409).
    """
    user = await people.lock_user(session, account.id) if account is not None else None
    if user is None:
        try:
            return await service.create_user(
                session, invited.email, name=name or invited.name, password_hash=password_hash
            )
        except EmailTaken:
            raise AccountJustOpened from None
    # Hashing took its time: the account that opened nothing before may be in use by now.
    if await people.is_account_in_use(session, user):
        raise AccountJustOpened
    await accounts.replace_password(session, user.id, password_hash, keep_token="", now=now)
    await second_factors.remove_factor(session, user.id)
    return user
