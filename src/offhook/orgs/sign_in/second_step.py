"""The second step of signing in: who has a second factor gets a challenge in place of a session, and answers it once."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.crypto import hash_token, new_token
from offhook.kit.database.database import Database
from offhook.kit.http.rate_limits import RateLimiter, network_of
from offhook.orgs import repository as organizations
from offhook.orgs import service
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller
from offhook.orgs.errors import SecondFactorMissing, SecondStepRefused, WrongCode
from offhook.orgs.people import accounts
from offhook.orgs.people import repository as people
from offhook.orgs.second_factor import repository as second_factors
from offhook.orgs.second_factor.factors import SecondFactors
from offhook.orgs.service import SignInResult
from offhook.orgs.sign_in import repository
from offhook.orgs.tables import SignInChallenge, User

log = structlog.get_logger(__name__)

CHALLENGE_LIFETIME: Final = timedelta(minutes=10)
MAX_CODES_PER_CHALLENGE: Final = 5
MAX_UNKNOWN_CHALLENGES, UNKNOWN_WINDOW_S = 100, 300


@dataclass(frozen=True, slots=True)
class FirstStep:
    """Who passed a first step, and how, as the audit log names it. ``password_hash``: the new password that a link sets.
    ``by_provider``: the organization's identity provider says so."""

    user: User
    organization_id: int
    role: str
    action: str
    password_hash: str | None = None
    by_provider: bool = False


@dataclass(frozen=True, slots=True)
class Challenge:
    """A sign-in that waits for a code; ``token`` is its secret."""

    token: str
    expires_at: datetime


class SignInSteps:
    """Turns a first step into a session, or into a challenge and that into a session."""

    def __init__(self, database: Database, clock: Clock, factors: SecondFactors) -> None:
        self._db = database
        self._clock = clock
        self._factors = factors
        self._per_network = RateLimiter(clock, limit=MAX_UNKNOWN_CHALLENGES, window_s=UNKNOWN_WINDOW_S)

    async def pass_first_step(self, session: AsyncSession, step: FirstStep, ip: str | None) -> SignInResult | Challenge:
        """Starts a session for people without a second factor, and a challenge for the others. The person is locked: who
        turns two-step sign-in on ends the sessions that there are."""
        if not await second_factors.has_factor(session, step.user.id):
            return await self._start_session(session, step, {}, ip)
        token, now = new_token(), self._clock.now()
        session.add(
            SignInChallenge(
                token_sha256=hash_token(token),
                user_id=step.user.id,
                organization_id=step.organization_id,
                action=step.action,
                password_hash=step.password_hash,
                by_provider=step.by_provider,
                created_at=now,
                expires_at=now + CHALLENGE_LIFETIME,
            )
        )
        await session.flush()
        return Challenge(token, now + CHALLENGE_LIFETIME)

    async def pass_second_step(self, token: str, code: str, ip: str | None) -> SignInResult:
        """Answers a challenge. A challenge allows a few codes and is then over, as it is with the right one.

        Raises ``SecondStepRefused`` (401), ``WrongCode`` (403) and ``TooManyRequests`` (429).
        """
        network = network_of(ip)
        self._per_network.spend(network)
        async with self._db.transaction() as session:
            challenge = await repository.spend_attempt(
                session, hash_token(token), MAX_CODES_PER_CHALLENGE, self._clock.now()
            )
        if challenge is None:
            raise SecondStepRefused
        self._per_network.refund(network)
        try:
            async with self._db.transaction() as session:
                return await self._answer(session, challenge, code, ip)
        except WrongCode:
            await self._record_failure(challenge, ip)
            raise

    async def _answer(
        self, session: AsyncSession, challenge: SignInChallenge, code: str, ip: str | None
    ) -> SignInResult:
        await service.require_open(session, challenge.organization_id)
        await people.lock_user(session, challenge.user_id)
        try:
            kind = await self._factors.check(session, challenge.user_id, code)
        except SecondFactorMissing:
            raise SecondStepRefused from None
        membership = await organizations.find_membership(session, challenge.organization_id, challenge.user_id)
        if membership is None or not await repository.delete_challenge(session, challenge.id):
            raise SecondStepRefused
        user, role = membership
        step = FirstStep(
            user, challenge.organization_id, role, challenge.action, challenge.password_hash, challenge.by_provider
        )
        return await self._start_session(session, step, {"second_step": kind}, ip)

    async def _start_session(
        self, session: AsyncSession, step: FirstStep, data: dict[str, str], ip: str | None
    ) -> SignInResult:
        now, target = self._clock.now(), f"user:{step.user.id}"
        signed_in = await service.sign_in_to(
            session, step.user, step.organization_id, step.role, now, by_provider=step.by_provider
        )
        caller = as_caller(signed_in, ip)
        if step.password_hash is not None:
            ended = await accounts.replace_password(
                session, step.user.id, step.password_hash, keep_token=signed_in.token, now=now
            )
            await write_audit_entry(session, caller, "user.password_reset", target, {"sessions_ended": ended})
        await write_audit_entry(session, caller, step.action, target, data)
        return signed_in

    async def _record_failure(self, challenge: SignInChallenge, ip: str | None) -> None:
        log.warning("second_step_failed", user_id=challenge.user_id, ip=ip)
        async with self._db.transaction() as session:
            nobody = Caller.system(challenge.organization_id)
            target = f"user:{challenge.user_id}"
            await write_audit_entry(session, nobody, "user.second_step_failed", target, ip=ip)


def as_caller(signed_in: SignInResult, ip: str | None) -> Caller:
    """Returns who signed in, for the audit log."""
    return Caller(
        organization_id=signed_in.organization_id,
        user_id=signed_in.user.id,
        key_id=None,
        role=signed_in.role,
        is_superuser=signed_in.user.is_superuser,
        ip=ip,
    )
