"""Ends long streams with their credential: a request is checked once, but its stream would go on for hours."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Final, cast
from weakref import finalize

import structlog
from starlette.requests import HTTPConnection

from offhook.errors import DomainError
from offhook.kit.database.outage import DATABASE_ERRORS, retry_until_database_returns
from offhook.kit.tasks import cancel_task
from offhook.orgs.caller import Caller
from offhook.orgs.dependencies import current_caller
from offhook.orgs.errors import TooManyStreams
from offhook.root import Root

log = structlog.get_logger(__name__)

_OUTAGE_TIMEOUT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """How often the credential of a stream is checked, and how long a stream lasts, both in seconds, and how many an
    organization may have open in one process.

    Clients reconnect, and everything that a request is checked for is checked again.
    """

    check_every_s: float = 15.0
    max_s: float = 900.0
    per_organization: int = 200


class OpenStreams:
    """The event streams that are open in this process, by organization: each holds a connection of the server."""

    def __init__(self) -> None:
        self._open: Counter[int] = Counter()

    def admit_stream(self, organization_id: int, limit: int, parts: AsyncGenerator[str]) -> AsyncGenerator[str]:
        """Returns ``parts``, counted until they end or are given up. Raises TooManyStreams (429)."""
        if self._open[organization_id] >= limit:
            raise TooManyStreams
        self._open[organization_id] += 1
        counted = _until_closed(parts)
        # Not in the generator: one that nobody ever began to read has no end.
        finalize(counted, self._release, organization_id).atexit = False
        return counted

    def _release(self, organization_id: int) -> None:
        self._open[organization_id] -= 1
        if not self._open[organization_id]:
            del self._open[organization_id]


async def _until_closed(parts: AsyncGenerator[str]) -> AsyncGenerator[str]:
    async with aclosing(parts):
        async for part in parts:
            yield part


def end_with_credential(connection: HTTPConnection, caller: Caller, parts: AsyncGenerator[str]) -> AsyncGenerator[str]:
    """Yields ``parts`` while the request's credential still has the caller's access, within the :class:`StreamLimits`.

    Raises TooManyStreams (429).
    """
    limits = cast(Root, connection.app.state.root).get(StreamLimits)
    open_streams = cast(Root, connection.app.state.root).get(OpenStreams)
    watched = watch_stream(parts, partial(_keeps_access, connection, caller), limits)
    return open_streams.admit_stream(caller.organization_id, limits.per_organization, watched)


async def watch_stream(
    parts: AsyncGenerator[str], keeps_access: Callable[[], Awaitable[bool]], limits: StreamLimits
) -> AsyncGenerator[str]:
    """Yields ``parts`` until they end, ``keeps_access`` returns False, or the time is over.

    It checks while it waits too, and no part leaves when a check is due.
    """
    loop = asyncio.get_running_loop()
    ends_at, next_check = loop.time() + limits.max_s, loop.time() + limits.check_every_s
    reading: asyncio.Task[str | None] | None = None
    try:
        while True:
            reading = reading or asyncio.create_task(_next_part(parts), name="event-stream-part")
            await asyncio.wait({reading}, timeout=min(next_check, ends_at) - loop.time())
            if loop.time() >= ends_at:
                return
            if loop.time() >= next_check:
                if not await keeps_access():
                    return
                next_check = loop.time() + limits.check_every_s
            if reading.done():
                part, reading = reading.result(), None
                if part is None:
                    return
                yield part
    finally:
        await cancel_task(reading)
        await parts.aclose()


async def _next_part(parts: AsyncGenerator[str]) -> str | None:
    return await anext(parts, None)


async def _keeps_access(connection: HTTPConnection, caller: Caller) -> bool:
    """Returns whether the request would still be let in, to the same organization."""
    try:
        now = await retry_until_database_returns(
            partial(current_caller, connection), timeout_s=_OUTAGE_TIMEOUT_S, what="credential of an event stream"
        )
    except (DomainError, *DATABASE_ERRORS) as error:
        log.info("event_stream_ended", reason=type(error).__name__, organization_id=caller.organization_id)
        return False
    return now.organization_id == caller.organization_id
