"""Requests take turns in the event loop, so that work that is due in between, such as a frame of a call, is on time.

Without turns an iteration of the loop runs all that became ready: twenty requests whose rows have arrived are twenty
times some milliseconds in which no call sends a frame.
"""

import asyncio
import time
from collections import deque
from collections.abc import Coroutine, Generator
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from offhook.kit.http.turns.request_share import RequestShare

_ANYBODY: Final = ""


class LoopTurns:
    """Gives one turn in each iteration of the loop, to one owner after the other, however many requests each has.

    All turns together take no more of the loop's time than ``share`` lets them.
    """

    def __init__(self, share: RequestShare | None = None) -> None:
        self.share = share or RequestShare()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._is_taken = False

    def wait(self, owner: str) -> Generator[Any, None, None]:
        """Waits for a turn; returns at once when this iteration has none of the others' yet."""
        loop = asyncio.get_running_loop()
        if not self._is_taken:
            self._is_taken = True
            wait_s = self.share.wait_s(loop.time())
            self._call_next(loop, wait_s)
            if not wait_s:
                return
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(owner, deque()).append(turn)
        yield from turn.__await__()

    def _call_next(self, loop: asyncio.AbstractEventLoop, wait_s: float) -> None:
        if wait_s:
            loop.call_later(wait_s, self._give_next, loop)
        else:
            loop.call_soon(self._give_next, loop)

    def _give_next(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._waiting and (wait_s := self.share.wait_s(loop.time())):
            self._call_next(loop, wait_s)
            return
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
        began = time.perf_counter()
        try:
            return self._work.send(value)
        finally:
            self._turns.share.spend(time.perf_counter() - began)

    def throw(self, *error: Any) -> Any:
        self._turn.close()
        self._turn = self._turns.wait(self._owner)
        return self._work.throw(*error)

    def close(self) -> None:
        self._turn.close()
        self._work.close()


class TakeTurns:
    """Runs each request in the turns of its sender: a key or session, or else an address."""

    def __init__(self, app: ASGIApp, share: RequestShare) -> None:
        self._app = app
        self._turns = LoopTurns(share)

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
