"""Authentication: one indexed read for each request, on a connection that is released before the endpoint runs."""

import asyncio
from datetime import datetime, timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from offhook.errors import Unauthorized
from offhook.kit.clock import Clock
from offhook.kit.crypto import hash_token
from offhook.kit.database.database import Database
from offhook.kit.database.direct_reads import DirectReadPool
from offhook.kit.http.rate_limits import RateLimiter, network_of
from offhook.kit.tasks import TaskTracker
from offhook.orgs.access_rules import is_in_networks
from offhook.orgs.caller import Caller
from offhook.orgs.errors import InvalidApiKey, InvalidToken, KeyNetworkRefused
from offhook.orgs.service import SESSION_IDLE, SESSION_LIFETIME
from offhook.orgs.sign_in import repository

log = structlog.get_logger(__name__)

LATE_TOUCH_S = 30.0
EXTEND_AFTER = timedelta(minutes=5)
# A client with a stale key may retry hard: this limits the load and the log; 256 random bits cannot be guessed.
MAX_UNKNOWN_CREDENTIALS_PER_MINUTE = 300
MAX_CREDENTIAL_LENGTH = 512


class Authenticator:
    """Resolves credentials to callers without a cache, so that every process refuses a revoked one at the next request."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._engine: AsyncEngine = database.single_statement_engine()
        self._reads = DirectReadPool(database)
        self._tasks = TaskTracker()
        self._late_key_ids: set[int] = set()
        self._clock = clock
        self._unknown_limiter = RateLimiter(clock, limit=MAX_UNKNOWN_CREDENTIALS_PER_MINUTE, window_s=60)

    async def close(self) -> None:
        await self._tasks.close()
        await self._reads.close()

    async def authenticate(self, *, api_key: str | None, authorization: str | None, ip: str | None) -> Caller:
        """Returns the caller of a request; an API key decides when both credentials are present.

        Raises :class:`Unauthorized` (401) and, after many unknown credentials from one address, ``TooManyRequests``.
        """
        if api_key is not None:
            return await self._by_key(api_key, ip)
        token = bearer_token(authorization)
        if not token:
            raise Unauthorized(headers={"WWW-Authenticate": "Bearer"})
        return await self._by_session(token, ip)

    async def _by_key(self, key: str, ip: str | None) -> Caller:
        row = None
        if 0 < len(key) <= MAX_CREDENTIAL_LENGTH:
            row = await repository.find_key(self._reads, hash_token(key))
        if row is None:
            self._unknown_limiter.spend(network_of(ip))
            raise InvalidApiKey
        now = self._clock.now()
        if row["archived_at"] is not None or (row["expires_at"] is not None and row["expires_at"] <= now):
            raise InvalidApiKey
        if not is_in_networks(ip, row["networks"]):
            raise KeyNetworkRefused
        if row["last_used_at"] is None or now - row["last_used_at"] >= repository.TOUCH_AFTER:
            await self._mark_used(row["id"], now)
        return Caller(
            organization_id=row["organization_id"],
            user_id=None,
            key_id=row["id"],
            role=row["role"],
            is_superuser=False,
            ip=ip,
            scopes=frozenset(row["scopes"]),
        )

    async def _by_session(self, token: str, ip: str | None) -> Caller:
        row, now = None, self._clock.now()
        if len(token) <= MAX_CREDENTIAL_LENGTH:
            row = await repository.find_session(self._reads, hash_token(token), now)
        if row is None:
            self._unknown_limiter.spend(network_of(ip))
            raise InvalidToken(headers={"WWW-Authenticate": "Bearer"})
        if row["impersonator_id"] is None:
            await self._extend_session(row["id"], row["created_at"], row["expires_at"], now)
        return Caller(
            organization_id=row["organization_id"],
            user_id=row["user_id"],
            key_id=None,
            role=row["role"],
            is_superuser=row["is_superuser"],
            impersonator_id=row["impersonator_id"],
            ip=ip,
            support_may_write=row["support_may_write"],
            # null without a demand
            lacks_second_factor=bool(row["lacks_second_factor"]),
            by_provider=row["by_provider"],
            lacks_provider=row["lacks_provider"],
            signed_in_at=row["created_at"],
            session_id=row["id"],
        )

    async def _extend_session(self, session_id: int, created_at: datetime, expires_at: datetime, now: datetime) -> None:
        """Moves the end of a session that is in use, every few minutes, up to its lifetime."""
        later = min(now + SESSION_IDLE, created_at + SESSION_LIFETIME)
        if later - expires_at < EXTEND_AFTER:
            return
        try:
            await repository.extend_session(self._engine, session_id, later)
        except SQLAlchemyError:
            # The next request tries again; days remain.
            log.warning("session_extension_failed", session_id=session_id, exc_info=True)

    async def _mark_used(self, key_id: int, now: datetime) -> None:
        """Sets ``last_used_at``. When another transaction holds the row, the request does not wait: a task does, one
        per key, so that a key that is archived and reactivated constantly still shows its use.
        """
        try:
            is_written = await repository.mark_key_used(self._engine, key_id, now, skip_locked=True)
        except SQLAlchemyError:
            log.warning("api_key_touch_failed", key_id=key_id, exc_info=True)
            is_written = False
        if not is_written and key_id not in self._late_key_ids:
            self._late_key_ids.add(key_id)
            self._tasks.start(self._mark_used_late(key_id, now), name="api-key-touch")

    async def _mark_used_late(self, key_id: int, now: datetime) -> None:
        try:
            async with asyncio.timeout(LATE_TOUCH_S):
                await repository.mark_key_used(self._engine, key_id, now, skip_locked=False)
        except (SQLAlchemyError, TimeoutError):
            log.warning("api_key_touch_failed", key_id=key_id, exc_info=True)
        finally:
            self._late_key_ids.discard(key_id)


def bearer_token(authorization: str | None) -> str:
    """Returns the token of ``Bearer <token>`` or of a bare ``<token>``; empty when there is none."""
    scheme, _, rest = (authorization or "").strip().partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else (authorization or "").strip()
