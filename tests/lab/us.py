"""The platform's side for tests of emulators: addresses that answer with documents, and a media socket."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from websockets.asyncio.server import ServerConnection, serve

from offhook_lab.carriers.core.chaos import ChaosSwitches
from offhook_lab.carriers.core.emulator import CarrierEmulator
from offhook_lab.carriers.core.rest import RestReply, RestRequest, RestServer
from tests.fakes.clock import run_virtual

# All here is plain HTTP: a client of its own reads all certificates, which takes 20 ms of CPU.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class Us(RestServer):
    """``documents`` by path; whatever else is asked for is answered 200. ``sockets`` are the media sockets that came,
    each with its messages; ``on_socket`` plays our part on them."""

    def __init__(self) -> None:
        self.chaos = ChaosSwitches()
        super().__init__(self.chaos)
        self.documents: dict[str, tuple[str, str]] = {}
        self.statuses: dict[str, list[int]] = {}
        self.sockets: list[tuple[ServerConnection, list[Any]]] = []
        self.on_socket: Callable[[ServerConnection, list[Any]], Coroutine[Any, Any, None]] | None = None
        self.media_url = ""

    def check_request(self, request: RestRequest) -> RestReply | None:
        return None

    def not_found_reply(self, request: RestRequest) -> RestReply:
        if (planned := self.statuses.get(request.path)) and (status := planned.pop(0)) != 200:
            return RestReply(status, "no", content_type="text/plain")
        kind, text = self.documents.get(request.path, ("application/json", "{}"))
        return RestReply(200, text, content_type=kind)

    def xml(self, path: str, text: str) -> str:
        self.documents[path] = ("text/xml", f"<Response>{text}</Response>")
        return self.base_url + path

    def ncco(self, path: str, actions: list[dict[str, Any]]) -> str:
        self.documents[path] = ("application/json", json.dumps(actions))
        return self.base_url + path

    async def _media(self, socket: ServerConnection) -> None:
        messages: list[Any] = []
        self.sockets.append((socket, messages))
        playing = asyncio.create_task(self.on_socket(socket, messages)) if self.on_socket else None
        async for message in socket:
            messages.append(json.loads(message) if isinstance(message, str) else message)  # noqa: PERF401 - seen live
        if playing is not None:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Us"]:
        async with (
            self.serve_rest("127.0.0.1", 0),
            serve(self._media, "127.0.0.1", 0, compression=None, ping_interval=None, close_timeout=0.1) as sockets,
        ):
            self.media_url = f"ws://127.0.0.1:{next(iter(sockets.sockets)).getsockname()[1]}/media"
            yield self


def events(messages: list[Any]) -> list[str]:
    """The events of a socket's messages, in order, each run of audio once."""
    found: list[str] = []
    for message in messages:
        name = str(message["event"]) if isinstance(message, dict) else "audio"
        if not found or found[-1] != name:
            found.append(name)
    return found


def with_emulator(
    emulator: Callable[[], CarrierEmulator], test: Callable[[Any, Us, httpx2.AsyncClient], Awaitable[None]]
) -> None:
    """Run a test with a carrier, our side, and a client that knows the carrier's address, on virtual time."""

    async def whole() -> None:
        async with Us().open() as us, emulator().running() as carrier, _client(carrier) as http:
            await test(carrier, us, http)

    run_virtual(whole(), limit_s=120, has_sockets=True)


def _client(carrier: CarrierEmulator) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=carrier.base_url, verify=NO_CERTIFICATES, trust_env=False, timeout=60)


async def first(messages: list[Any], event: str) -> dict[str, Any]:
    """Wait for the first message of this kind."""
    while True:
        for message in messages:
            if isinstance(message, dict) and message["event"] == event:
                return message
        await asyncio.sleep(0.02)
