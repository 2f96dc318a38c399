"""Credentials to callers: one indexed read a request, on a connection that is given back before the endpoint runs."""

import asyncio
from datetime import datetime, timedelta

import structlog
from sqlalchemy import ColumnElement, Update, or_, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from offhook.errors import Unauthorized
from offhook.kit.clock import Clock
from offhook.kit.crypto import hash_token
from offhook.kit.database.database import Database
from offhook.kit.database.direct_reads import DirectReadPool
from offhook.kit.http.rate_limits import RateLimiter
from offhook.kit.tasks import TaskTracker
from offhook.orgs.caller import Caller
from offhook.orgs.errors import InvalidApiKey, InvalidToken
from offhook.orgs.tables import ApiKey

log = structlog.get_logger(__name__)

TOUCH_AFTER = timedelta(seconds=60)
LATE_TOUCH_S = 30.0
# A client with a stale key may retry hard: what is limited is the load and the log, 256 random bits cannot be guessed.
MAX_UNKNOWN_CREDENTIALS_PER_MINUTE = 300
MAX_CREDENTIAL_LENGTH = 512

_KEY = "SELECT id, organization_id, role, archived_at, last_used_at FROM api_keys WHERE key_sha256 = $1"
_SESSION = """
SELECT s.organization_id, s.user_id, s.impersonator_id, m.role, u.is_superuser
FROM user_sessions s
JOIN users u ON u.id = s.user_id
JOIN members m ON m.user_id = s.user_id AND m.organization_id = s.organization_id
WHERE s.token_sha256 = $1 AND s.revoked_at IS NULL AND s.expires_at > $2
"""


class Authenticator:
    """Nothing is cached: an archived key or a revoked session is refused by the very next request, on every process."""

    def __init__(self, database: Database, clock: Clock) -> None:
        # Autocommit: the touch is one statement.
        self._engine: AsyncEngine = database.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._reads = DirectReadPool(database.url)
        self._tasks = TaskTracker()
        self._late_key_ids: set[int] = set()
        self._clock = clock
        self._unknown_limiter = RateLimiter(clock, limit=MAX_UNKNOWN_CREDENTIALS_PER_MINUTE, window_s=60)

    async def close(self) -> None:
        await self._tasks.close()
        await self._reads.close()

    async def authenticate(self, *, api_key: str | None, authorization: str | None, ip: str | None) -> Caller:
        """The caller of a request; an API key decides when both credentials are present.

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
            row = await self._reads.fetch_row(_KEY, hash_token(key))
        if row is None:
            self._unknown_limiter.spend(ip or "")
            raise InvalidApiKey
        if row["archived_at"] is not None:
            raise InvalidApiKey
        now = self._clock.now()
        if row["last_used_at"] is None or now - row["last_used_at"] >= TOUCH_AFTER:
            await self._mark_used(row["id"], now)
        return Caller(
            organization_id=row["organization_id"],
            user_id=None,
            key_id=row["id"],
            role=row["role"],
            is_superuser=False,
            ip=ip,
        )

    async def _by_session(self, token: str, ip: str | None) -> Caller:
        row = None
        if len(token) <= MAX_CREDENTIAL_LENGTH:
            row = await self._reads.fetch_row(_SESSION, hash_token(token), self._clock.now())
        if row is None:
            self._unknown_limiter.spend(ip or "")
            raise InvalidToken(headers={"WWW-Authenticate": "Bearer"})
        return Caller(
            organization_id=row["organization_id"],
            user_id=row["user_id"],
            key_id=None,
            role=row["role"],
            is_superuser=row["is_superuser"],
            impersonator_id=row["impersonator_id"],
            ip=ip,
        )

    async def _mark_used(self, key_id: int, now: datetime) -> None:
        """Set ``last_used_at``. A row that someone else holds is not waited for by the request but beside it, once for
        each key: a key that is archived and reactivated all the time is seen to be used nevertheless."""
        due = _due_conditions(key_id, now)
        free = select(ApiKey.id).where(*due).with_for_update(skip_locked=True).scalar_subquery()
        statement = update(ApiKey).where(ApiKey.id == free).values(last_used_at=now).returning(ApiKey.id)
        if await self._try_statement(key_id, statement) is None and key_id not in self._late_key_ids:
            self._late_key_ids.add(key_id)
            self._tasks.start(self._mark_used_late(key_id, now), name="api-key-touch")

    async def _mark_used_late(self, key_id: int, now: datetime) -> None:
        try:
            async with asyncio.timeout(LATE_TOUCH_S):
                await self._try_statement(
                    key_id, update(ApiKey).where(*_due_conditions(key_id, now)).values(last_used_at=now)
                )
        except TimeoutError:
            log.warning("api_key_touch_failed", key_id=key_id)
        finally:
            self._late_key_ids.discard(key_id)

    async def _try_statement(self, key_id: int, statement: Update) -> int | None:
        """The key's id when the statement returns it."""
        try:
            async with self._engine.connect() as connection:
                result = await connection.execute(statement)
                return result.scalar_one_or_none() if result.returns_rows else None
        except SQLAlchemyError:
            log.warning("api_key_touch_failed", key_id=key_id, exc_info=True)
            return None


def _due_conditions(key_id: int, now: datetime) -> tuple[ColumnElement[bool], ...]:
    return ApiKey.id == key_id, or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at <= now - TOUCH_AFTER)


def bearer_token(authorization: str | None) -> str:
    """The token of ``Bearer <token>`` or of a bare ``<token>``; empty when there is none."""
    scheme, _, rest = (authorization or "").strip().partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else (authorization or "").strip()
