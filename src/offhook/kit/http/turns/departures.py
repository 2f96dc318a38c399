"""Work that only its client wants ends when the client is gone."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from offhook.kit.tasks import cancel_task

T = TypeVar("T")


async def end_with_client(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Returns what ``work`` returns; cancels it and raises ClientDisconnect when the client closes the connection.

    For reads only, after the body was read: what changes something goes on, since clients that lost their connection
    ask for the result with the same Idempotency-Key.
    """
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_wait_for_departure(request))
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        await cancel_task(watching)
        await cancel_task(working)


async def _wait_for_departure(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
