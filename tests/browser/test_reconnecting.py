"""A browser call whose line broke: its page connects again with the token that it was given, and nobody else."""

import asyncio
import json
from collections.abc import Awaitable, Callable

from websockets.asyncio.client import ClientConnection

from offhook.root import Root
from offhook.runs import RunServices
from offhook.runs.tables import Run
from tests.browser.test_media_socket import Dial, call, closing, dial, next_json, refused, token_of, until_final
from tests.fakes.calls import wait_until_idle

__all__ = ["call", "dial", "token_of"]


async def goes_on(line: ClientConnection) -> str:
    """Waits until the call is resumed and the agent is heard; returns the token for the next time."""
    token, is_resumed, is_heard = "", False, False
    async with asyncio.timeout(60):
        while not (token and is_resumed and is_heard):
            message = await line.recv()
            if isinstance(message, bytes):
                is_heard = True
                continue
            told = json.loads(message)
            if told["type"] == "reconnect":
                token = told["token"]
            is_resumed = is_resumed or told.get("event", {}).get("type") == "call_resumed"
    return token


async def test_the_page_comes_back(
    root: Root, dial: Dial, call: Run, token_of: Callable[[Run], Awaitable[str]]
) -> None:
    live = root.get(RunServices).live
    live.handovers.reconnect_timeout_s = 60.0
    async with dial(call, await token_of(call)) as line:
        first = (await next_json(line, "reconnect"))["token"]
        line.transport.abort()
    assert (await refused(dial(call, "another")))[0] == 401
    async with dial(call, first) as line:
        second = await goes_on(line)
        assert (await refused(dial(call, first)))[0] == 401, "it works once"
        # The server has not noticed yet that this line is gone.
        async with dial(call, second) as again:
            third = await goes_on(again)
            assert live.active_calls == 1
            await again.send(json.dumps({"type": "hangup"}))
            assert (await closing(again))[0] == 1000
    stored = await until_final(root, call)
    assert (stored.status, stored.outcome, stored.end_reason) == ("completed", "answered", "caller_hung_up")
    assert (await refused(dial(call, third)))[0] == 401, "the call is over"
    await wait_until_idle(live)


async def test_a_page_that_comes_back_too_late(
    root: Root, dial: Dial, call: Run, token_of: Callable[[Run], Awaitable[str]]
) -> None:
    root.get(RunServices).live.handovers.reconnect_timeout_s = 0.0
    async with dial(call, await token_of(call)) as line:
        token = (await next_json(line, "reconnect"))["token"]
        line.transport.abort()
        assert (await until_final(root, call)).end_reason == "media_lost"
    assert (await refused(dial(call, token)))[0] == 401
