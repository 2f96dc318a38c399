"""Names that users entered: a name server that does not answer holds up no other name."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from offhook.kit.egress import SystemHostResolver
from offhook.kit.egress.resolver import MAX_LOOKUPS_OF_ZONE


class NameServer:
    """Stands in for the system's resolver. Names with "slow" get no answer before ``released``."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.asked: list[str] = []
        self.error: int | None = None
        self._lock = threading.Lock()

    def look_up(self, host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            self.asked.append(host)
        if "slow" in host:
            self.released.wait(30)
        if self.error is not None:
            raise socket.gaierror(self.error, "no")
        return [(2, 1, 6, "", ("192.0.2.1", port)), (2, 1, 6, "", ("192.0.2.1", port))]


@pytest.fixture
def server() -> Iterator[NameServer]:
    made = NameServer()
    yield made
    made.released.set()


async def test_names_without_an_answer_hold_up_no_other(server: NameServer) -> None:
    resolver = SystemHostResolver(server.look_up)
    waiting = [asyncio.create_task(resolver.resolve(f"x{n}.slow.test", 443)) for n in range(50)]
    async with asyncio.timeout(10):
        assert await resolver.resolve("api.vendor.test", 443) == ["192.0.2.1"]
    assert len(server.asked) == MAX_LOOKUPS_OF_ZONE + 1
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    # those that nobody waits for any more do not begin, and those that began keep their places
    again = asyncio.create_task(resolver.resolve("y.slow.test", 443))
    await asyncio.sleep(0.01)
    assert len(server.asked) == MAX_LOOKUPS_OF_ZONE + 1
    server.released.set()
    async with asyncio.timeout(10):
        assert await again == ["192.0.2.1"]
    assert len(server.asked) == MAX_LOOKUPS_OF_ZONE + 2


async def test_the_same_name_is_asked_once(server: NameServer) -> None:
    resolver = SystemHostResolver(server.look_up)
    both = [asyncio.create_task(resolver.resolve("slow.test", 443)) for _ in range(2)]
    await asyncio.sleep(0.01)
    server.released.set()
    async with asyncio.timeout(10):
        assert await asyncio.gather(*both) == [["192.0.2.1"]] * 2
    assert server.asked == ["slow.test"]


async def test_a_known_name_leads_where_it_led_while_its_server_is_away(server: NameServer) -> None:
    server.released.set()
    resolver = SystemHostResolver(server.look_up, patience_s=0.01)
    first = await resolver.resolve("slow.test", 443)
    server.released.clear()
    async with asyncio.timeout(10):
        assert await resolver.resolve("slow.test", 443) == first
    server.released.set()
    server.error = socket.EAI_AGAIN
    resolver = SystemHostResolver(server.look_up)
    with pytest.raises(socket.gaierror):
        await resolver.resolve("new.test", 443)
    server.error = None
    known = await resolver.resolve("new.test", 443)
    server.error = socket.EAI_AGAIN
    assert await resolver.resolve("new.test", 443) == known
    server.error = socket.EAI_NONAME  # it is gone, and not only its server
    with pytest.raises(socket.gaierror):
        await resolver.resolve("new.test", 443)
