"""Where a pack's files come from: a web server or a folder, behind one port.

The operator types these addresses, so they may be private: https to any host that they name, http to this machine. What a
mirror redirects to is checked as every address that others give: public, by https, at most five steps.
"""

import asyncio
import ipaddress
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, Self
from urllib.parse import quote

import httpx2

from offhook.kit.egress import EgressClient, EgressPolicy
from offhook.kit.egress.errors import EgressError
from offhook.models.voice_packs.errors import VoicesAddressInvalid

MAX_REDIRECTS: Final = 5
_MAX_ANSWER_BYTES: Final = 1 << 40
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
# Answers after which the same request may work.
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_CONTENT_RANGE: Final = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")
_FILE_BLOCK: Final = 1 << 18


class MirrorFault(Exception):
    """A mirror did not deliver. ``retryable``: the same request may work; ``spoils``: what was fetched of the file is no
    beginning of what the mirror has now."""

    def __init__(
        self, message: str, *, retryable: bool, spoils: bool = False, is_wrong: bool = False, pause_s: float = 0
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.spoils = spoils
        self.is_wrong = is_wrong
        self.pause_s = pause_s


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """``silence_s`` without a byte, or less than ``min_bytes_per_s`` in ``rate_window_s``, ends an attempt. A file gets
    ``attempts`` at a mirror without progress of ``progress_bytes``; pauses double from ``pause_s`` to ``max_pause_s``.
    """

    silence_s: float = 20.0
    min_bytes_per_s: int = 2000
    rate_window_s: float = 30.0
    attempts: int = 5
    progress_bytes: int = 1_000_000
    pause_s: float = 1.0
    max_pause_s: float = 30.0


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file from ``offset`` on: where that is 0 although more was asked for, the mirror begins again."""

    offset: int
    validator: str
    blocks: AsyncIterator[bytes]


class Mirror(Protocol):
    @property
    def address(self) -> str: ...

    def open_file(
        self, path: str, *, url: str | None = None, size: int | None = None, offset: int = 0, validator: str = ""
    ) -> AbstractAsyncContextManager[FilePart]:
        """Opens a file of ``size`` bytes at ``offset``, if it still has the ``validator`` of the beginning. A web server has
        it at ``url``, relative to its address. Raises MirrorFault, while it is read too."""
        ...


class FolderMirror:
    """A folder of this machine, such as a mounted stick."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def address(self) -> str:
        return str(self._folder)

    @asynccontextmanager
    async def open_file(
        self, path: str, *, url: str | None = None, size: int | None = None, offset: int = 0, validator: str = ""
    ) -> AsyncIterator[FilePart]:
        try:
            with (self._folder / path).open("rb") as source:
                found = source.seek(0, 2)
                if size is not None and found != size:
                    raise MirrorFault(f"the file has {found} bytes instead of {size}", retryable=False, is_wrong=True)
                source.seek(offset)
                yield FilePart(offset, "", _read_blocks(source.read))
        except OSError as error:
            raise MirrorFault(f"{path} cannot be read: {error.strerror}", retryable=False) from None


async def _read_blocks(read: Callable[[int], bytes]) -> AsyncIterator[bytes]:
    while block := await asyncio.to_thread(read, _FILE_BLOCK):
        yield block


class HttpMirror:
    """A web server; ``base`` ends with a slash. ``close`` it."""

    def __init__(self, base: str, egress: EgressClient, limits: FetchLimits) -> None:
        self._base = base
        self._egress = egress
        self._limits = limits
        self._client = egress.vendor_client(limits.silence_s, max_bytes=_MAX_ANSWER_BYTES)

    @property
    def address(self) -> str:
        return self._base

    async def close(self) -> None:
        await self._client.aclose()

    @asynccontextmanager
    async def open_file(
        self, path: str, *, url: str | None = None, size: int | None = None, offset: int = 0, validator: str = ""
    ) -> AsyncIterator[FilePart]:
        headers = {"range": f"bytes={offset}-"} if offset else {}
        if offset and validator:
            headers["if-range"] = validator
        try:
            response = await self._send(self._base + (url or quote(path)), headers)
            try:
                start = _check_answer(response, offset, size)
                blocks = self._limit_rate(response.aiter_raw())
                yield FilePart(start, _strong_validator(response), blocks)
            finally:
                await response.aclose()
        except httpx2.TimeoutException:
            raise MirrorFault(f"the server was silent for {self._limits.silence_s:g} s", retryable=True) from None
        except httpx2.RemoteProtocolError as error:
            raise MirrorFault(f"the connection was cut ({error})", retryable=True) from None
        except httpx2.TransportError as error:
            reason = str(error) or type(error).__name__
            raise MirrorFault(f"the server cannot be reached ({reason})", retryable=True) from None
        except EgressError as error:
            raise MirrorFault(error.message.rstrip("."), retryable=error.retryable) from None

    async def _send(self, url: str, headers: dict[str, str]) -> httpx2.Response:
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._client.send(self._client.build_request("GET", url, headers=headers), stream=True)
            if response.status_code not in _REDIRECTS or "location" not in response.headers:
                return response
            await response.aclose()
            try:
                target = response.request.url.join(response.headers["location"]).copy_with(fragment=None)
            except (httpx2.InvalidURL, ValueError):
                raise MirrorFault("the server redirects to an invalid address", retryable=False) from None
            if target.scheme != "https" and not _is_loopback(target.host):
                raise MirrorFault("the server redirects to an address without https", retryable=False)
            url = str(target)
        raise MirrorFault(f"the server redirects more than {MAX_REDIRECTS} times", retryable=False)

    async def _limit_rate(self, blocks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        limits, began, received = self._limits, time.monotonic(), 0
        async for block in blocks:
            received += len(block)
            elapsed = time.monotonic() - began
            if elapsed >= limits.rate_window_s:
                if received < limits.min_bytes_per_s * elapsed:
                    rate = round(received / elapsed)
                    raise MirrorFault(f"the server sent only {rate} bytes a second", retryable=True)
                began, received = time.monotonic(), 0
            yield block


def _check_answer(response: httpx2.Response, offset: int, size: int | None) -> int:
    """Returns where the answer begins. Raises MirrorFault."""
    status = response.status_code
    if status == 416:
        raise MirrorFault("the server has no such part of the file (416)", retryable=True, spoils=True)
    if status not in {200, 206} or (status == 206 and not offset):
        pause = response.headers.get("retry-after", "")
        raise MirrorFault(
            f"the server answers {status}",
            retryable=status in _PASSING,
            pause_s=float(pause) if re.fullmatch(r"\d{1,4}", pause) else 0,
        )
    length = response.headers.get("content-length", "")
    if status == 200:
        if size is not None and length.isdecimal() and int(length) != size:
            raise MirrorFault(f"the file has {length} bytes instead of {size}", retryable=False, is_wrong=True)
        return 0
    match = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", "").strip())
    if match is None or int(match[1]) != offset or match[3] not in {"*", str(size)} or int(match[2]) + 1 != size:
        raise MirrorFault("the server sends another part than was asked for", retryable=True, spoils=True)
    return offset


def _strong_validator(response: httpx2.Response) -> str:
    """Returns an ETag that can stand in If-Range; empty without one. A date is too coarse to tell two versions apart."""
    tag = response.headers.get("etag", "").strip()
    return tag if re.fullmatch(r'"[\x21\x23-\x7e]{1,200}"', tag) else ""


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class MirrorSet:
    """The mirrors that one command uses, in order. An asynchronous context: its end closes the connections."""

    def __init__(self, addresses: Sequence[str], egress_allow: str = "", limits: FetchLimits | None = None) -> None:
        """Raises VoicesAddressInvalid for what is neither a folder nor an address."""
        self.limits = limits or FetchLimits()
        urls = [normalize_address(address) for address in addresses]
        allowed = EgressPolicy.parse(egress_allow)
        named = {(url.host.strip("[]").lower(), None) for url in urls if isinstance(url, httpx2.URL)}
        self._egress = EgressClient(EgressPolicy(allowed.hosts | named, allowed.networks))
        self.mirrors: list[Mirror] = [
            FolderMirror(url) if isinstance(url, Path) else HttpMirror(str(url), self._egress, self.limits)
            for url in urls
        ]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for mirror in self.mirrors:
            if isinstance(mirror, HttpMirror):
                await mirror.close()
        await self._egress.aclose()


def normalize_address(address: str) -> httpx2.URL | Path:
    """Returns the folder, or the URL with a slash at its end. Raises VoicesAddressInvalid."""
    if "://" not in address:
        folder = Path(address).expanduser()
        if not folder.is_dir():
            raise VoicesAddressInvalid(f"{address!r:.200} is neither an existing folder nor an https:// address.")
        return folder
    try:
        url = httpx2.URL(address)
    except (httpx2.InvalidURL, ValueError):
        raise VoicesAddressInvalid(f"{address!r:.200} is not an address.") from None
    if url.scheme != "https" and not (url.scheme == "http" and _is_loopback(url.host)):
        raise VoicesAddressInvalid(f"{address!r:.200} does not begin with https:// (http:// is for this machine only).")
    if url.userinfo or url.query or not url.host:
        raise VoicesAddressInvalid("The address of a mirror has a host, and neither a password nor a query.")
    return url if url.path.endswith("/") else url.copy_with(path=f"{url.path}/")
