"""The second factor of a person: setting it up, checking codes, recovery codes, and taking it off."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.crypto import Keyring, SecretUnreadable, hash_token
from offhook.kit.http.rate_limits import RateLimiter
from offhook.kit.one_time_codes import (
    enrollment_uri,
    find_step,
    is_app_code,
    new_code_secret,
    new_recovery_code,
    normalize_code,
    qr_code,
    secret_text,
)
from offhook.orgs.errors import SecondFactorEnabled, SecondFactorMissing, SecondFactorUnreadable, WrongCode
from offhook.orgs.second_factor import repository

ISSUER: Final = "Offhook"
RECOVERY_CODES: Final = 10
# Six digits, three of which are right at any time: at this rate guessing takes years. Over all networks, because only who
# has the password gets so far; recovery codes are too long to guess and do not count.
MAX_GUESSES_PER_HOUR: Final = 10

CodeKind = Literal["app", "recovery"]


@dataclass(frozen=True, slots=True)
class Enrollment:
    """A secret that waits for its first code, as text, as ``otpauth://`` address and as QR code in a ``data:`` address."""

    secret: str
    uri: str
    qr_code: str


@dataclass(frozen=True, slots=True)
class FactorStatus:
    """Whether a person has a second factor. ``due_at``: from when on the organization requires one."""

    is_enabled: bool
    enabled_at: datetime | None
    recovery_codes_left: int
    due_at: datetime | None


class SecondFactors:
    """Second factors of people. Secrets are sealed with the installation's key, recovery codes hashed."""

    def __init__(self, clock: Clock, keyring: Keyring) -> None:
        self._clock = clock
        self._keyring = keyring
        self._guesses = RateLimiter(clock, limit=MAX_GUESSES_PER_HOUR, window_s=3600)

    async def status(self, session: AsyncSession, user_id: int, organization_id: int) -> FactorStatus:
        factor = await repository.find_factor(session, user_id)
        enabled_at = factor.confirmed_at if factor else None
        left = await repository.count_recovery_codes(session, user_id) if enabled_at else 0
        return FactorStatus(enabled_at is not None, enabled_at, left, await repository.due_at(session, organization_id))

    async def begin(self, session: AsyncSession, user_id: int, email: str) -> Enrollment:
        """Stores a new secret, which counts from its first right code on; raises ``SecondFactorEnabled`` (409)."""
        secret = new_code_secret()
        sealed = self._keyring.seal(secret, _seal_context(user_id))
        if not await repository.store_unconfirmed(session, user_id, sealed, self._clock.now()):
            raise SecondFactorEnabled
        uri = enrollment_uri(secret, email, ISSUER)
        return Enrollment(secret_text(secret), uri, qr_code(uri))

    async def confirm(self, session: AsyncSession, user_id: int, code: str) -> list[str]:
        """Turns the second factor on with its first code and returns the recovery codes, which are shown only now.

        Raises ``SecondFactorMissing`` and ``SecondFactorEnabled`` (409), ``WrongCode`` (403), ``TooManyRequests`` (429).
        """
        factor = await repository.find_factor(session, user_id)
        if factor is None:
            raise SecondFactorMissing
        if factor.confirmed_at is not None:
            raise SecondFactorEnabled
        self._guesses.spend(str(user_id))
        now = self._clock.now()
        step = find_step(self._open_secret(user_id, factor.sealed_secret), normalize_code(code), now)
        if step is None:
            raise WrongCode
        self._guesses.refund(str(user_id))
        if not await repository.confirm(session, user_id, factor.sealed_secret, step, now):
            raise SecondFactorMissing
        return await self._give_recovery_codes(session, user_id)

    async def renew_recovery_codes(self, session: AsyncSession, user_id: int, code: str) -> list[str]:
        """Replaces the recovery codes; raises as :meth:`check`."""
        await self.check(session, user_id, code)
        return await self._give_recovery_codes(session, user_id)

    async def remove(self, session: AsyncSession, user_id: int, code: str) -> None:
        """Takes the second factor off with one last code; raises as :meth:`check`."""
        await self.check(session, user_id, code)
        await repository.remove_factor(session, user_id)

    async def check(self, session: AsyncSession, user_id: int, code: str) -> CodeKind:
        """Spends a code of the app or a recovery code, and returns which of them it was.

        Raises ``SecondFactorMissing`` (409), ``WrongCode`` (403), ``TooManyRequests`` (429) and ``SecondFactorUnreadable``
        (409).
        """
        factor = await repository.find_factor(session, user_id)
        if factor is None or factor.confirmed_at is None:
            raise SecondFactorMissing
        normalized = normalize_code(code)
        if not is_app_code(normalized):
            if not await repository.spend_recovery_code(session, user_id, hash_token(normalized), self._clock.now()):
                raise WrongCode
            return "recovery"
        self._guesses.spend(str(user_id))
        step = find_step(self._open_secret(user_id, factor.sealed_secret), normalized, self._clock.now())
        if step is None or not await repository.spend_step(session, user_id, step):
            raise WrongCode
        self._guesses.refund(str(user_id))
        return "app"

    async def _give_recovery_codes(self, session: AsyncSession, user_id: int) -> list[str]:
        codes = [new_recovery_code() for _ in range(RECOVERY_CODES)]
        await repository.replace_recovery_codes(session, user_id, [hash_token(normalize_code(code)) for code in codes])
        return codes

    def _open_secret(self, user_id: int, sealed: bytes) -> bytes:
        try:
            return self._keyring.open(sealed, _seal_context(user_id))
        except SecretUnreadable:
            raise SecondFactorUnreadable from None


def _seal_context(user_id: int) -> bytes:
    return f"second-factor:{user_id}".encode()
