"""A mirror of voice packs on loopback, with every fault that a mirror or the way to it can have."""

import asyncio
import contextlib
import hashlib
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote

from tests.fakes.web import Seen, read_request

FOREVER = 1 << 30


@dataclass
class MirrorFlaw:
    """What goes wrong with the next ``times`` answers for ``path``; ``at`` is a byte of the answer's body.

    Kinds: ``cut``, ``wrong_bytes``, ``short``, ``long``, ``status``, ``stall``, ``drip``, ``changed`` (another file of the same
    length), ``retagged`` (the same file with another ETag), ``ignores_range``, ``wrong_range``, ``wrong_total``,
    ``no_such_range``, ``unbounded`` (no length, cut), ``redirect``, ``call`` (calls ``then`` at the byte and goes on).
    """

    kind: str
    path: str
    at: int = 0
    times: int = 1
    status: int = 500
    location: str = ""
    then: Callable[[], None] = lambda: None


@dataclass
class MirrorServer:
    """``files`` by path, ``flaws`` in the order in which they strike. ``sent`` counts the bytes of bodies by path."""

    files: dict[str, bytes]
    flaws: list[MirrorFlaw] = field(default_factory=list)
    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    sent: dict[str, int] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await read_request(reader):
                self.seen.append(request)
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _flaw_for(self, path: str) -> MirrorFlaw | None:
        for flaw in self.flaws:
            if flaw.path == path and flaw.times > 0:
                flaw.times -= 1
                return flaw
        return None

    async def _answer(self, request: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection goes on."""
        path = unquote(request.target).removeprefix("/")
        flaw = self._flaw_for(path)
        kind = flaw.kind if flaw else ""
        if path not in self.files or kind in {"status", "redirect"}:
            status = flaw.status if flaw else 404
            extra = f"location: {flaw.location}\r\n" if flaw and flaw.location else ""
            writer.write(f"HTTP/1.1 {status} Said\r\n{extra}content-length: 0\r\n\r\n".encode())
            await writer.drain()
            return True
        whole = self.files[path]
        tag = hashlib.sha256(whole).hexdigest()[:16]
        if kind == "changed":
            whole, tag = bytes(255 - byte for byte in whole), "changed"
        tag = "retagged" if kind == "retagged" else tag
        head, body = _frame(whole, tag, request, kind, flaw)
        writer.write(head)
        return await self._send_body(path, body, flaw, reader, writer)

    async def _send_body(
        self,
        path: str,
        body: bytes,
        flaw: MirrorFlaw | None,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        at = (
            min(flaw.at, len(body))
            if flaw and flaw.kind in {"cut", "unbounded", "stall", "drip", "call"}
            else len(body)
        )
        self.sent[path] = self.sent.get(path, 0) + at
        writer.write(body[:at])
        await writer.drain()
        match flaw.kind if flaw else "":
            case "cut" | "unbounded":
                return False
            case "stall":
                await reader.read()
            case "drip":
                for offset in range(at, len(body)):
                    writer.write(body[offset : offset + 1])
                    await writer.drain()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(0.02):
                            return bool(await reader.read()) and False
            case "call":
                assert flaw is not None
                flaw.then()
                writer.write(body[at:])
                await writer.drain()
        return True


def _frame(whole: bytes, tag: str, request: Seen, kind: str, flaw: MirrorFlaw | None) -> tuple[bytes, bytes]:
    """The head and the body of an answer."""
    match = re.fullmatch(r"bytes=(\d+)-", request.headers.get("range", ""))
    condition = request.headers.get("if-range")
    start = int(match[1]) if match else 0
    is_part = match is not None and condition in (None, f'"{tag}"') and kind != "ignores_range"
    lines = [f'etag: "{tag}"', "accept-ranges: bytes"]
    if is_part and (start >= len(whole) or kind == "no_such_range"):
        return f"HTTP/1.1 416 Said\r\ncontent-range: bytes */{len(whole)}\r\ncontent-length: 0\r\n\r\n".encode(), b""
    body, status = (whole[start:], "206 Part") if is_part else (whole, "200 Fine")
    if is_part:
        first, total = start, len(whole)
        if kind == "wrong_range":
            first, body = start // 2, whole[start // 2 :]
        if kind == "wrong_total":
            total += 7
        lines.append(f"content-range: bytes {first}-{len(whole) - 1}/{total}")
    if kind == "wrong_bytes" and flaw and body:
        at = min(flaw.at, len(body) - 1)
        body = body[:at] + bytes([body[at] ^ 0x40]) + body[at + 1 :]
    if kind == "short":
        body = body[: len(body) // 2]
    if kind == "long":
        body += b"more"
    lines += ["connection: close"] if kind == "unbounded" else [f"content-length: {len(body)}"]
    return ("\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""])).encode(), body


@asynccontextmanager
async def mirror_server(files: dict[str, bytes], *flaws: MirrorFlaw) -> AsyncIterator[MirrorServer]:
    """Serves on 127.0.0.1 until the block ends."""
    server = MirrorServer(files, list(flaws))
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
