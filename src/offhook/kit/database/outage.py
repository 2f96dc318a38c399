"""Database outages: which errors indicate one, and how to wait until it is over."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import asyncpg
import structlog
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError, SQLAlchemyError

T = TypeVar("T")
log = structlog.get_logger(__name__)

# Errors that connecting, sending or committing may raise.
DATABASE_ERRORS: Final = (SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)

# An attempt without an answer after this long is canceled and begun again, on another connection.
ATTEMPT_TIMEOUT_S: Final = 15.0


def is_permanent_error(error: Exception) -> bool:
    """Returns whether the statement itself was wrong, so that a retry does not help; the driver detects some itself."""
    if isinstance(error, DataError | IntegrityError | ProgrammingError):
        return True
    cause = getattr(getattr(error, "orig", None), "__cause__", None)
    return isinstance(cause, asyncpg.DataError | asyncpg.IntegrityConstraintViolationError)


async def retry_until_database_returns(work: Callable[[], Awaitable[T]], *, timeout_s: float, what: str) -> T:
    """Retries ``work`` (one idempotent transaction) until it succeeds; raises its last error after ``timeout_s``."""
    loop = asyncio.get_running_loop()
    deadline, pause_s = loop.time() + timeout_s, 0.2
    while True:
        try:
            async with asyncio.timeout(ATTEMPT_TIMEOUT_S):
                return await work()
        except DATABASE_ERRORS as error:
            if is_permanent_error(error) or loop.time() + pause_s > deadline:
                raise
            log.warning("database_unreachable", what=what, error=type(error).__name__, retry_in_s=pause_s)
        await asyncio.sleep(pause_s)
        pause_s = min(5.0, pause_s * 2)
