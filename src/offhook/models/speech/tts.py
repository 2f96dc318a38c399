"""A voice behind a WebSocket: one sentence at a time on a warm connection, stopped at once when the caller talks."""

import asyncio
import itertools
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from offhook.kit.json_values import parse_json
from offhook.kit.media_sockets.client import ClientSocket
from offhook.models.ports import ModelError, ModelRef
from offhook.models.speech.connection_pool import PooledConnection, VendorConnectionPool
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import WireFormat, line_format
from offhook.models.speech.network_route import DIRECT_ROUTE, NetworkRoute
from offhook.models.speech.vendor_socket import VendorAddress, open_socket
from offhook.models.vendors import ModelChoice


@dataclass(frozen=True, slots=True)
class TtsAudio:
    """Bytes in the wire's format; ``context`` None means the current sentence."""

    payload: bytes
    context: str | None = None


@dataclass(frozen=True, slots=True)
class TtsDone:
    """The audio of a sentence is complete."""

    context: str | None = None


@dataclass(frozen=True, slots=True)
class TtsStopped:
    """The vendor confirmed a cancel."""


@dataclass(frozen=True, slots=True)
class TtsFailed:
    error: ModelError
    context: str | None = None


TtsMessage = TtsAudio | TtsDone | TtsStopped | TtsFailed | None


class TtsWire(ABC):
    """One vendor's format. Pure but for its configuration; ``parse_message`` may raise KeyError, TypeError or
    ValueError.

    ``idle_message`` keeps an idle connection open (every 10 s); None: WebSocket pings are enough. ``uses_per_minute``:
    how many sentences the vendor allows on one connection. ``needs_drain``: a canceled connection is unusable until
    the vendor confirms; otherwise contexts separate audio.
    """

    vendor: ClassVar[str]
    idle_message: ClassVar[str | None] = None
    uses_per_minute: ClassVar[int | None] = None
    needs_drain: ClassVar[bool] = False

    def __init__(self, choice: ModelChoice) -> None:
        self.choice = choice
        self.model_ref = ModelRef("tts", self.vendor, choice.model)
        self.errors = VendorErrors("tts", choice.api_key)

    @abstractmethod
    def connection_address(self, audio: WireFormat) -> VendorAddress: ...

    @abstractmethod
    def speak_messages(self, text: str, context: str, audio: WireFormat) -> Sequence[str]: ...

    @abstractmethod
    def cancel_messages(self, context: str) -> Sequence[str]: ...

    @abstractmethod
    def parse_message(self, message: Mapping[str, Any]) -> TtsMessage: ...


@dataclass(frozen=True, slots=True)
class TtsLimits:
    """Seconds until a connection is open, until a sentence's first audio and between two pieces of it."""

    connect_s: float = 3.0
    first_byte_s: float = 4.0
    stall_s: float = 3.0


class SocketTts:
    """Implements Tts for a vendor's wire. ``for_line`` gives the same voice at a line's own rate."""

    def __init__(
        self,
        wire: TtsWire,
        *,
        sample_rate: int = 16000,
        limits: TtsLimits | None = None,
        way: NetworkRoute = DIRECT_ROUTE,
        variants: "dict[int, SocketTts] | None" = None,
    ) -> None:
        self._wire = wire
        self.model_ref = wire.model_ref
        self.sample_rate = sample_rate
        self._format = line_format(sample_rate)
        self._limits = limits or TtsLimits()
        self._route = way
        self._contexts = itertools.count(1)
        # text sent to the vendor, retries included: the billed amount
        self.characters = 0
        self._variants = {} if variants is None else variants
        self._variants[sample_rate] = self
        self.pool = VendorConnectionPool(
            self._open_socket, wire.errors, idle_message=wire.idle_message, uses_per_minute=wire.uses_per_minute
        )

    def for_line(self, sample_rate: int) -> "SocketTts":
        """Returns this voice at 8000 (mu-law on the wire) or 16000 Hz without resampling; always the same object."""
        if sample_rate not in (8000, 16000):
            return self
        known = self._variants.get(sample_rate)
        return known or SocketTts(
            self._wire, sample_rate=sample_rate, limits=self._limits, way=self._route, variants=self._variants
        )

    async def warm_up(self) -> None:
        """Opens a connection before the first sentence needs it."""
        connection, _ = await self.pool.acquire()
        self.pool.release(connection)

    async def close(self) -> None:
        for variant in self._variants.values():
            variant.pool.close()

    async def speak(self, text: str) -> AsyncGenerator[bytes, None]:
        """Yields PCM16 of one sentence. Closing it stops the vendor; the connection stays for the next sentence."""
        if not text.strip():
            return
        context = f"c{next(self._contexts)}"
        connection, was_used = await self._request_speech(text, context, only_new=False)
        try:
            try:
                first = await self._next_audio(connection, context, self._limits.first_byte_s)
            except ModelError as error:
                # a connection that died while idle reports it only now
                if not was_used or not error.code.endswith("cut_off"):
                    raise
                self.pool.discard(connection)
                connection, _ = await self._request_speech(text, context, only_new=True)
                first = await self._next_audio(connection, context, self._limits.first_byte_s)
            odd = b""
            while first is not None:
                pcm = odd + first
                odd = pcm[len(pcm) & ~1 :]
                yield pcm[: len(pcm) & ~1]
                first = await self._next_audio(connection, context, self._limits.stall_s)
        except ModelError:
            self.pool.discard(connection)
            raise
        except (GeneratorExit, asyncio.CancelledError):
            self._cancel(connection, context)
            raise
        self.pool.release(connection)

    async def _request_speech(self, text: str, context: str, *, only_new: bool) -> tuple[PooledConnection, bool]:
        connection, was_used = await self.pool.acquire(only_new=only_new)
        connection.send(*self._wire.speak_messages(text, context, self._format))
        self.characters += len(text)
        return connection, was_used

    async def _next_audio(self, connection: PooledConnection, context: str, limit_s: float) -> bytes | None:
        """Returns the next audio of a sentence as PCM16, None at its end."""
        errors = self._wire.errors
        try:
            async with asyncio.timeout(limit_s):
                while True:
                    parsed = self._parse_message(await connection.incoming.get())
                    if isinstance(parsed, ModelError):
                        raise parsed
                    if parsed is None or isinstance(parsed, TtsStopped) or parsed.context not in (None, context):
                        continue
                    if isinstance(parsed, TtsFailed):
                        raise parsed.error
                    if isinstance(parsed, TtsDone):
                        return None
                    if parsed.payload:
                        return self._format.to_pcm(parsed.payload)
        except TimeoutError:
            raise errors.timeout_error("audio", limit_s) from None

    def _parse_message(self, message: str | bytes | ModelError) -> TtsMessage | ModelError:
        if isinstance(message, bytes):
            return TtsAudio(message)
        if isinstance(message, ModelError):
            return message
        try:
            found = parse_json(message)
            if not isinstance(found, dict):
                raise TypeError("no object")
            return self._wire.parse_message(found)
        except (ValueError, LookupError, TypeError, ArithmeticError) as error:
            return self._wire.errors.malformed_error(f"{type(error).__name__}: {error}")

    def _cancel(self, connection: PooledConnection, context: str) -> None:
        connection.send(*self._wire.cancel_messages(context))
        if self._wire.needs_drain and connection.is_open:
            connection.drain_until(partial(self._is_end, context))
        else:
            self.pool.release(connection)

    def _is_end(self, context: str, message: str) -> bool:
        parsed = self._parse_message(message)
        return isinstance(parsed, TtsStopped) or (isinstance(parsed, TtsDone) and parsed.context == context)

    async def _open_socket(self, connection: PooledConnection) -> ClientSocket:
        address = self._wire.connection_address(self._format)
        return await open_socket(
            address, connection, self._wire.errors, limit_s=self._limits.connect_s, way=self._route
        )
