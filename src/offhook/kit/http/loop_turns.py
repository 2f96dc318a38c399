"""Requests take turns in the event loop, so that what is due meanwhile, such as a frame of a call, is on time.

Without turns an iteration of the loop runs all that became ready: twenty requests whose rows have arrived are twenty
times some milliseconds in which no call sends a frame.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine, Generator
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

_ANYBODY: Final = ""


class LoopTurns:
    """Gives one turn in each iteration of the loop, to one owner after the other, however many requests each has."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._is_taken = False

    def wait(self, owner: str) -> Generator[Any, None, None]:
        """Waits for a turn; returns at once when this iteration has none of the others' yet."""
        loop = asyncio.get_running_loop()
        if not self._is_taken:
            self._is_taken = True
            loop.call_soon(self._give_next, loop)
            return
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(owner, deque()).append(turn)
        yield from turn.__await__()

    def _give_next(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting:
            owner, turns = next(iter(self._waiting.items()))
            turn = turns.popleft()
            # To the end of the line.
            del self._waiting[owner]
            if turns:
                self._waiting[owner] = turns
            if not turn.done():
                turn.set_result(None)
                loop.call_soon(self._give_next, loop)
                return
        self._is_taken = False


class TurnTaking(Generator[Any, None, None]):
    """Awaits a coroutine, of which each step after a wait is a turn of ``owner``. Who is canceled waits for none."""

    def __init__(self, work: Coroutine[Any, Any, None], turns: LoopTurns, owner: str) -> None:
        self._work = work
        self._turns = turns
        self._owner = owner
        self._turn = turns.wait(owner)

    def __await__(self) -> Generator[Any, None, None]:
        return self

    def send(self, value: None) -> Any:
        try:
            return next(self._turn)
        except StopIteration:
            self._turn = self._turns.wait(self._owner)
        return self._work.send(value)

    def throw(self, *error: Any) -> Any:
        self._turn.close()
        self._turn = self._turns.wait(self._owner)
        return self._work.throw(*error)

    def close(self) -> None:
        self._turn.close()
        self._work.close()


class TakeTurns:
    """Runs each request in turns of its sender: a key or session, or an address without either."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._turns = LoopTurns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        await TurnTaking(self._answer(scope, receive, send), self._turns, _owner_of(scope))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _owner_of(scope: Scope) -> str:
    headers = Headers(scope=scope)
    sender = scope.get("client")
    return headers.get("authorization") or headers.get("x-api-key") or (sender[0] if sender else _ANYBODY)
