"""What a client asked for ends when it is gone, and not before."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request

from offhook.kit.http.turns.departures import end_with_client

SENT = {"type": "http.request", "body": b"", "more_body": False}
GONE = {"type": "http.disconnect"}


class Work:
    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.is_canceled = False

    async def do(self) -> str:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.is_canceled = True
            raise
        return "never"


def request(leaves: asyncio.Event) -> Request:
    messages: Iterator[Any] = iter([SENT])

    async def receive() -> Any:
        if (message := next(messages, None)) is not None:
            return message
        await leaves.wait()
        return GONE

    return Request({"type": "http", "method": "GET", "headers": []}, receive)


async def test_work_ends_with_its_client() -> None:
    work = Work()
    with pytest.raises(ClientDisconnect):
        await end_with_client(request(work.begun), work.do())
    assert work.is_canceled


async def test_a_client_who_stays_gets_the_answer_and_the_failure() -> None:
    async def answer() -> str:
        await asyncio.sleep(0)
        return "answer"

    async def fail() -> str:
        raise LookupError("nothing")

    stays = asyncio.Event()
    assert await end_with_client(request(stays), answer()) == "answer"
    with pytest.raises(LookupError, match="nothing"):
        await end_with_client(request(stays), fail())


async def test_a_request_that_the_server_ends_takes_its_work_along() -> None:
    work = Work()
    task = asyncio.create_task(end_with_client(request(asyncio.Event()), work.do()))
    await work.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.is_canceled
