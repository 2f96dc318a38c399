"""A recognizer behind a WebSocket: one connection a caller, replaced when it breaks, without losing a word."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from offhook.kit.audio import Resampler
from offhook.models.ports import Expectation, ModelError, ModelRef, SttEvent
from offhook.models.speech.audio_replay import Replay
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import WireFormat
from offhook.models.speech.network_route import STRAIGHT, Way
from offhook.models.speech.vendor_socket import Address, VendorSocket, connect

RECONNECT_PAUSES_S: Final = (0.0, 0.3, 1.0)
# More than this many lost lines in LOSSES_WITHIN_S: another vendor should take over.
MAX_LOSSES: Final = 3
LOSSES_WITHIN_S: Final = 30.0
# A caller spoke at least MIN_SPEECH_S and ANSWER_S later the vendor has not sent a byte: the line is dead.
MIN_SPEECH_S: Final = 0.35
ANSWER_S: Final = 1.0
SILENT_AFTER_S: Final = 4.0
MAX_TERMS: Final = 50
MAX_TERM_CHARS: Final = 50


@dataclass(frozen=True, slots=True)
class Ready:
    """The vendor takes audio now."""


@dataclass(frozen=True, slots=True)
class Heard:
    """``end_s``: where the text ends on the connection's clock (finals); None: at everything that was sent."""

    event: SttEvent
    end_s: float | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    error: ModelError


SttNews = Ready | Heard | Failed


class SttSession(Protocol):
    """One connection's side of a vendor's protocol. ``read`` may raise KeyError, TypeError or ValueError."""

    @property
    def waits_for_ready(self) -> bool: ...
    def hello(self) -> Sequence[str]: ...
    def audio(self, payload: bytes) -> str | bytes: ...
    def read(self, message: Mapping[str, Any]) -> Sequence[SttNews]: ...
    def expect(self, terms: Sequence[str]) -> Sequence[str] | None:
        """Key terms for what comes now; None where the vendor takes them with a new connection only."""
        ...

    def goodbye(self) -> Sequence[str]: ...


class SttWire(Protocol):
    @property
    def ref(self) -> ModelRef: ...
    @property
    def errors(self) -> VendorErrors: ...
    @property
    def chunk_s(self) -> float:
        """How much audio goes into one message."""
        ...

    @property
    def replay_speed(self) -> float | None:
        """How many times real time the vendor takes audio; None: any."""
        ...

    @property
    def idle_message(self) -> str | None:
        """What keeps a connection open while no audio comes (every 4 s)."""
        ...

    def format_for(self, sample_rate: int) -> WireFormat: ...
    def address(self, audio: WireFormat, language: str, terms: Sequence[str]) -> Address: ...
    def session(self, audio: WireFormat, language: str, terms: Sequence[str]) -> SttSession: ...


@dataclass(frozen=True, slots=True)
class SttLimits:
    """Seconds until a connection stands and until the vendor takes audio."""

    connect_s: float = 3.0
    ready_s: float = 3.0


class SocketStt:
    """Implements Stt for a vendor's wire."""

    has_endpointing = True

    def __init__(self, wire: SttWire, *, limits: SttLimits | None = None, way: Way = STRAIGHT) -> None:
        self._wire = wire
        self._limits = limits or SttLimits()
        self._way = way

    @property
    def ref(self) -> ModelRef:
        return self._wire.ref

    async def open(self, *, sample_rate: int, language: str) -> "SocketSttStream":
        stream = SocketSttStream(self._wire, sample_rate, language, self._limits, self._way)
        await stream.start()
        return stream


class _Line:
    """One connection as its receiver; a line that was replaced is not heard any more."""

    def __init__(self, owner: "SocketSttStream", session: SttSession) -> None:
        self._owner = owner
        self.session = session
        self.socket: VendorSocket | None = None
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def on_text(self, text: str) -> None:
        self._owner.received(self, text)

    def on_binary(self, payload: bytes) -> None:
        self._owner.received(self, payload)

    def on_closed(self, code: int, reason: str) -> None:
        self._owner.lost(self, code, reason)


class SocketSttStream:
    """Implements SttStream."""

    def __init__(self, wire: SttWire, sample_rate: int, language: str, limits: SttLimits, way: Way) -> None:
        self._wire = wire
        self._language = language
        self._terms: tuple[str, ...] = ()
        self._limits = limits
        self._way = way
        self._loop = asyncio.get_running_loop()
        self._format = wire.format_for(sample_rate)
        self._chunk = int(wire.chunk_s * self._format.sample_rate) * self._format.sample_bytes
        self._resampler = Resampler(sample_rate, self._format.sample_rate)
        self._replay = Replay(self._format)
        self._queue: asyncio.Queue[SttEvent | ModelError | None] = asyncio.Queue()
        self._line: _Line | None = None
        self._task: asyncio.Task[None] | None = None
        self._paced: asyncio.TimerHandle | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._losses: deque[float] = deque(maxlen=MAX_LOSSES)
        self._is_closed = False
        # what is expected first comes right after the connection: where it must be part of that, it is made again
        self._may_renew = True
        self._started_at: float | None = None
        self._ended_at = 0.0
        self._has_words = False
        self._sent_at = self._loop.time()
        self._messages = 0
        self._messages_at_start = 0
        # what the vendor was sent, replays included: what it bills
        self.sent_s = 0.0

    async def start(self) -> None:
        await self._connect()
        if self._wire.idle_message is not None:
            self._idle = self._loop.call_later(SILENT_AFTER_S, self._keep_alive)

    # -- SttStream ------------------------------------------------------------------------------------------------

    def push(self, pcm: bytes) -> None:
        if self._is_closed:
            return
        self._replay.add(self._format.from_pcm(self._resampler.push(pcm).tobytes()))
        self._replay.trim(is_silent=self._is_silent())
        self._pump()

    def speech_started(self) -> None:
        self._started_at = self._loop.time()
        self._messages_at_start = self._messages

    def speech_ended(self) -> None:
        if self._started_at is None or self._is_closed:
            return
        self._ended_at = self._loop.time()
        spoken, self._started_at = self._ended_at - self._started_at, None
        if spoken >= MIN_SPEECH_S and self._messages == self._messages_at_start and self._watch is None:
            self._watch = self._loop.call_later(ANSWER_S, self._look)

    def expect(self, expectation: Expectation) -> None:
        short = (phrase for phrase in expectation.phrases if 0 < len(phrase) <= MAX_TERM_CHARS)
        terms = tuple(dict.fromkeys(short))[:MAX_TERMS]
        line = self._line
        if terms == self._terms:
            return
        self._terms = terms
        if line is None:
            return
        messages = line.session.expect(terms)
        if messages is not None:
            self._send(line, *messages)
        elif terms and self._may_renew and self._task is None:
            self._task = self._loop.create_task(self._renew(line))
        self._may_renew = False

    async def events(self) -> AsyncIterator[SttEvent]:
        while (event := await self._queue.get()) is not None:
            if isinstance(event, ModelError):
                raise event
            yield event

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        for timer in (self._paced, self._idle, self._watch):
            if timer is not None:
                timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        line, self._line = self._line, None
        if line is not None:
            self._send(line, *line.session.goodbye())
        self._hang_up(line)
        self._queue.put_nowait(None)

    # -- the connection -------------------------------------------------------------------------------------------

    async def _connect(self) -> None:
        session = self._wire.session(self._format, self._language, self._terms)
        line = _Line(self, session)
        address = self._wire.address(self._format, self._language, self._terms)
        try:
            line.socket = await connect(address, line, self._wire.errors, limit_s=self._limits.connect_s, way=self._way)
            self._send(line, *session.hello())
            if session.waits_for_ready:
                async with asyncio.timeout(self._limits.ready_s):
                    await line.ready
        except TimeoutError:
            self._hang_up(line)
            raise self._wire.errors.timed_out("answer to the greeting", self._limits.ready_s) from None
        except BaseException:
            self._hang_up(line)
            raise
        self._line = line
        self._replay.rewind()
        self._pump()

    def received(self, line: _Line, message: str | bytes) -> None:
        """A message of the vendor on one of our connections."""
        self._messages += 1
        try:
            found = json.loads(message)
            if not isinstance(found, dict):
                raise TypeError("no object")
            news = line.session.read(found)
        except (ValueError, KeyError, TypeError) as error:
            self._broken(line, self._wire.errors.malformed(f"{type(error).__name__}: {error}"))
            return
        for item in news:
            if isinstance(item, Failed):
                self._broken(line, item.error)
                return
            if isinstance(item, Ready):
                if not line.ready.done():
                    line.ready.set_result(None)
            elif line is self._line:
                self._heard(item)

    def lost(self, line: _Line, code: int, reason: str) -> None:
        """The vendor closed one of our connections, or the network did."""
        self._broken(line, self._wire.errors.closed(code, reason))

    def _heard(self, heard: Heard) -> None:
        if heard.event.kind == "final":
            self._has_words = False
            if heard.event.text or heard.end_s is not None:
                self._replay.covered(heard.end_s)
        elif heard.event.text:
            self._has_words = True
        if heard.event.text or heard.event.is_endpoint:
            self._queue.put_nowait(heard.event)

    def _broken(self, line: _Line, error: ModelError) -> None:
        if not line.ready.done() and line is not self._line:
            line.ready.set_exception(error)
            line.ready.exception()
            return
        if line is not self._line or self._is_closed:
            return
        self._line = None
        self._hang_up(line)
        now = self._loop.time()
        self._losses.append(now)
        if not error.retryable or (len(self._losses) == MAX_LOSSES and now - self._losses[0] < LOSSES_WITHIN_S):
            self._queue.put_nowait(error)
        elif self._task is None or self._task.done():
            self._task = self._loop.create_task(self._reconnect(error))

    async def _renew(self, old: _Line) -> None:
        """The same with the key terms, beside the old connection until it stands."""
        try:
            await self._connect()
        except ModelError as error:
            if self._line is None:
                await self._reconnect(error)
            return
        self._send(old, *old.session.goodbye())
        self._hang_up(old)

    async def _reconnect(self, error: ModelError) -> None:
        for pause in RECONNECT_PAUSES_S:
            await asyncio.sleep(pause)
            try:
                await self._connect()
            except ModelError as failed:
                error = failed
                if not failed.retryable:
                    break
            else:
                return
        self._queue.put_nowait(error)

    def _hang_up(self, line: _Line | None) -> None:
        if line is not None and line.socket is not None:
            line.socket.close()

    # -- audio out ------------------------------------------------------------------------------------------------

    def _pump(self) -> None:
        line, speed = self._line, self._wire.replay_speed
        if line is None or self._paced is not None:
            return
        while self._replay.unsent >= self._chunk:
            payload = self._replay.take(self._chunk)
            self.sent_s += len(payload) / self._format.bytes_per_s
            self._send(line, line.session.audio(payload))
            if speed is not None and self._replay.unsent >= 2 * self._chunk:
                self._paced = self._loop.call_later(self._wire.chunk_s / speed, self._go_on)
                return

    def _go_on(self) -> None:
        self._paced = None
        self._pump()

    def _send(self, line: _Line, *messages: str | bytes) -> None:
        if line.socket is not None:
            for message in messages:
                line.socket.send(message)
                self._sent_at = self._loop.time()

    # -- timers ---------------------------------------------------------------------------------------------------

    def _is_silent(self) -> bool:
        return not self._has_words and self._started_at is None and self._loop.time() - self._ended_at > SILENT_AFTER_S

    def _keep_alive(self) -> None:
        message = self._wire.idle_message
        if self._line is not None and message is not None and self._loop.time() - self._sent_at >= SILENT_AFTER_S / 2:
            self._send(self._line, message)
        self._idle = self._loop.call_later(SILENT_AFTER_S, self._keep_alive)

    def _look(self) -> None:
        self._watch = None
        if self._messages == self._messages_at_start and self._line is not None:
            self._broken(self._line, self._wire.errors.timed_out("answer to speech", ANSWER_S))
