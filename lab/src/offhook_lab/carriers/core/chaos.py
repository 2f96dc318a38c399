"""Faults by switch: in callbacks, REST responses and media sockets."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, TypeVar

PostFaultKind = Literal["late", "twice", "swapped", "lost", "forged", "unsigned", "altered"]
RestFaultKind = Literal["rate_limited", "server_error", "hangs", "acts_then_fails", "acts_then_silent", "acts_slowly"]


@dataclass(slots=True)
class CallbackFault:
    """A fault of the next ``times`` callbacks whose kind matches ``kind`` (``"status:completed"``, ``"answer"``,
    ``"status:*"``).

    late: sent ``seconds`` later, others overtake it; twice: sent again right after; swapped: sent after the call's next
    callback; lost: never sent; forged: signed with another secret; unsigned: without a signature; altered: the body (or
    query) is changed after it was signed.
    """

    what: PostFaultKind
    kind: str = "*"
    times: int = 1
    seconds: float = 0.5


@dataclass(slots=True)
class RestFault:
    """A fault of the next ``times`` requests whose ``"METHOD /path"`` matches ``request``.

    rate_limited, server_error: nothing was done; hangs: never answered, nothing was done; acts_then_fails: done, but
    answered 500; acts_then_silent: done, and the connection is cut without an answer, once ``until`` is set; acts_slowly: done, and answered
    ``seconds`` later, or once ``until`` is set.
    """

    what: RestFaultKind
    request: str = "*"
    times: int = 1
    seconds: float = 1.0
    until: asyncio.Event | None = None

    async def pause(self) -> None:
        await (self.until.wait() if self.until is not None else asyncio.sleep(self.seconds))


@dataclass(slots=True)
class SocketFault:
    """A fault of the next ``times`` media sockets: cut without a close handshake after ``after_s`` seconds of audio,
    or never opened (``after_s`` below 0)."""

    after_s: float = 0.5
    times: int = 1


_Fault = TypeVar("_Fault", CallbackFault, RestFault, SocketFault)


@dataclass(slots=True)
class ChaosSwitches:
    """The switches of one emulator; ``holds_callbacks`` keeps every callback in ``CarrierEmulator.held_callbacks``
    until it is released."""

    callbacks: list[CallbackFault] = field(default_factory=list)
    rest: list[RestFault] = field(default_factory=list)
    sockets: list[SocketFault] = field(default_factory=list)
    holds_callbacks: bool = False

    def for_callback(self, kind: str) -> CallbackFault | None:
        return _take_fault(self.callbacks, lambda fault: fnmatchcase(kind, fault.kind))

    def for_request(self, method: str, path: str) -> RestFault | None:
        return _take_fault(self.rest, lambda fault: fnmatchcase(f"{method} {path}", fault.request))

    def for_socket(self) -> SocketFault | None:
        return _take_fault(self.sockets, lambda fault: True)


def _take_fault(faults: list[_Fault], fits: Callable[[_Fault], bool]) -> _Fault | None:
    for fault in faults:
        if fault.times > 0 and fits(fault):
            fault.times -= 1
            return fault
    return None
