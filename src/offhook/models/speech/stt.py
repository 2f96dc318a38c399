"""A recognizer behind a WebSocket: one connection per caller, replaced without losing a word when it breaks."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from offhook.kit.audio import Resampler, peak_of
from offhook.kit.json_values import parse_json
from offhook.kit.media_sockets.client import ClientSocket
from offhook.models.ports import Expectation, ModelError, SttEvent
from offhook.models.speech.audio_replay import AudioReplay
from offhook.models.speech.network_route import DIRECT_ROUTE, NetworkRoute
from offhook.models.speech.stt_wire import SttFailed, SttReady, SttSession, SttTranscript, SttWire
from offhook.models.speech.vendor_socket import open_socket
from offhook.models.stt_events import SttEventQueue, read_stt_events

RECONNECT_PAUSES_S: Final = (0.0, 0.3, 1.0)
# With more lost connections than this within LOSSES_WITHIN_S, another vendor should take over.
MAX_LOSSES: Final = 3
LOSS_WINDOW_S: Final = 30.0
# Without a byte from the vendor ANSWER_S after MIN_SPEECH_S of speech, the connection is dead.
MIN_SPEECH_S: Final = 0.35
ANSWER_TIMEOUT_S: Final = 1.0
SILENT_AFTER_S: Final = 4.0
# A vendor that sent no final by then has none.
QUIET_AFTER_S: Final = 1.5
MAX_TERMS: Final = 50
MAX_TERM_CHARS: Final = 50


@dataclass(frozen=True, slots=True)
class SttLimits:
    """Seconds until a connection is open and until the vendor takes audio."""

    connect_s: float = 3.0
    ready_s: float = 3.0


class SocketStt:
    """Implements Stt for a vendor's wire."""

    has_endpointing = True

    def __init__(self, wire: SttWire, *, limits: SttLimits | None = None, way: NetworkRoute = DIRECT_ROUTE) -> None:
        self._wire = wire
        self.model_ref = wire.model_ref
        self.judges_turns = wire.judges_turns
        self._limits = limits or SttLimits()
        self._route = way

    async def open_stream(self, *, sample_rate: int, language: str) -> "SocketSttStream":
        stream = SocketSttStream(self._wire, sample_rate, language, self._limits, self._route)
        await stream.start()
        return stream


class _VendorConnection:
    """One connection as its receiver; messages of a replaced connection are ignored."""

    def __init__(self, owner: "SocketSttStream", session: SttSession) -> None:
        self._owner = owner
        self.session = session
        self.socket: ClientSocket | None = None
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def on_text(self, text: str) -> None:
        self._owner.on_message(self, text)

    def on_binary(self, payload: bytes) -> None:
        self._owner.on_message(self, payload)

    def on_closed(self, code: int, reason: str) -> None:
        self._owner.on_lost(self, code, reason)


class SocketSttStream:
    """Implements SttStream."""

    def __init__(self, wire: SttWire, sample_rate: int, language: str, limits: SttLimits, way: NetworkRoute) -> None:
        self._wire = wire
        self._language = language
        self._terms: tuple[str, ...] = ()
        self._limits = limits
        self._route = way
        self._loop = asyncio.get_running_loop()
        self._format = wire.format_for(sample_rate)
        is_at_rate = sample_rate == self._format.sample_rate
        self._resampler = None if is_at_rate else Resampler(sample_rate, self._format.sample_rate)
        self._replay = AudioReplay(self._format, wire.chunk_s, wire.quiet_chunk_s)
        self._queue: SttEventQueue = asyncio.Queue()
        self._connection: _VendorConnection | None = None
        self._task: asyncio.Task[None] | None = None
        self._pacing_timer: asyncio.TimerHandle | None = None
        self._keepalive_timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None
        self._losses: deque[float] = deque(maxlen=MAX_LOSSES)
        self._is_closed = False
        # the first key terms come right after the connection: where they must be part of it, it is opened again
        self._may_renew = True
        self._started_at: float | None = None
        self._ended_at = 0.0
        self._has_words = self._is_awaited = False
        self._is_quiet = True
        self._sent_at = self._loop.time()
        self._messages = 0
        self._messages_at_start = 0
        # audio sent to the vendor, replays included: the billed amount
        self.sent_s = 0.0

    async def start(self) -> None:
        await self._open_connection()
        if self._wire.idle_message is not None or self._wire.idles_with_silence:
            self._keepalive_timer = self._loop.call_later(SILENT_AFTER_S, self._keep_alive)

    # -- SttStream ------------------------------------------------------------------------------------------------

    def push_audio(self, pcm: bytes) -> None:
        if self._is_closed:
            return
        at_rate = pcm if self._resampler is None else self._resampler.push(pcm).tobytes()
        self._replay.add(self._format.from_pcm(at_rate))
        silent_s = 0.0 if self._is_turn_open else self._loop.time() - self._ended_at
        if silent_s > QUIET_AFTER_S:
            self._is_quiet = True
            self._replay.expect_nothing()
        elif not self._is_quiet:
            self._replay.expect_words(peak_of(pcm))
        self._replay.trim(is_silent=silent_s > SILENT_AFTER_S)
        self._send_pending()

    @property
    def _is_turn_open(self) -> bool:
        return self._has_words or self._started_at is not None

    def speech_started(self) -> None:
        self._started_at = self._loop.time()
        self._messages_at_start = self._messages
        self._is_quiet = False
        self._replay.expect_words(0)
        self._send_pending()

    def speech_ended(self) -> None:
        if self._started_at is None or self._is_closed:
            return
        self._ended_at = self._loop.time()
        spoken, self._started_at = self._ended_at - self._started_at, None
        self._is_awaited = self._wire.may_wait
        is_open = self._is_awaited or self._messages == self._messages_at_start
        if spoken >= MIN_SPEECH_S and is_open and self._answer_timer is None:
            self._answer_timer = self._loop.call_later(ANSWER_TIMEOUT_S, self._check_answered)

    def set_expectation(self, expectation: Expectation) -> None:
        short = (phrase for phrase in expectation.phrases if 0 < len(phrase) <= MAX_TERM_CHARS)
        terms = tuple(dict.fromkeys(short))[:MAX_TERMS]
        line = self._connection
        if terms == self._terms:
            return
        self._terms = terms
        if line is None:
            return
        messages = line.session.key_term_messages(terms)
        if messages is not None:
            self._send_messages(line, *messages)
        elif terms and self._may_renew and self._task is None:
            self._task = self._loop.create_task(self._replace_connection(line))
        self._may_renew = False

    def events(self) -> AsyncIterator[SttEvent]:
        return read_stt_events(self._queue)

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        for timer in (self._pacing_timer, self._keepalive_timer, self._answer_timer):
            if timer is not None:
                timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        line, self._connection = self._connection, None
        if line is not None:
            self._send_messages(line, *line.session.closing_messages())
        self._close_connection(line)
        self._queue.put_nowait(None)

    # -- the connection -------------------------------------------------------------------------------------------

    async def _open_connection(self) -> None:
        session = self._wire.create_session(self._format, self._language, self._terms)
        line = _VendorConnection(self, session)
        address = self._wire.connection_address(self._format, self._language, self._terms)
        try:
            line.socket = await open_socket(
                address, line, self._wire.errors, limit_s=self._limits.connect_s, way=self._route
            )
            self._send_messages(line, *session.opening_messages())
            if session.waits_for_ready:
                async with asyncio.timeout(self._limits.ready_s):
                    await line.ready
        except TimeoutError:
            self._close_connection(line)
            raise self._wire.errors.timeout_error("answer to the greeting", self._limits.ready_s) from None
        except BaseException:
            self._close_connection(line)
            raise
        self._connection = line
        self._replay.rewind()
        self._send_pending()

    def on_message(self, line: _VendorConnection, message: str | bytes) -> None:
        """Handles a message of the vendor on one of our connections."""
        self._messages += 1
        try:
            found = parse_json(message)
            if not isinstance(found, dict):
                raise TypeError("no object")
            messages = line.session.parse_message(found)
        except (ValueError, LookupError, TypeError, ArithmeticError) as error:
            self._handle_broken(line, self._wire.errors.malformed_error(f"{type(error).__name__}: {error}"))
            return
        for item in messages:
            if isinstance(item, SttFailed):
                self._handle_broken(line, item.error)
                return
            if isinstance(item, SttReady):
                if not line.ready.done():
                    line.ready.set_result(None)
            elif line is self._connection:
                self._publish_transcript(item)

    def on_lost(self, line: _VendorConnection, code: int, reason: str) -> None:
        """Handles the loss of one of our connections, by the vendor or the network."""
        self._handle_broken(line, self._wire.errors.closed_error(code, reason))

    def _publish_transcript(self, heard: SttTranscript) -> None:
        if heard.event.kind == "final":
            self._has_words = self._is_awaited = False
            if heard.event.text or heard.end_s is not None:
                self._replay.mark_covered(heard.end_s)
            if heard.event.is_endpoint and not self._is_turn_open:
                self._is_quiet = True
                self._replay.expect_nothing()
        elif heard.event.text:
            self._has_words, self._is_quiet = True, False
        if heard.event.text or heard.event.is_endpoint:
            self._queue.put_nowait(heard.event)

    def _handle_broken(self, line: _VendorConnection, error: ModelError) -> None:
        if not line.ready.done() and line is not self._connection:
            line.ready.set_exception(error)
            line.ready.exception()
            return
        if line is not self._connection or self._is_closed:
            return
        self._connection = None
        self._close_connection(line)
        now = self._loop.time()
        self._losses.append(now)
        if not error.retryable or (len(self._losses) == MAX_LOSSES and now - self._losses[0] < LOSS_WINDOW_S):
            self._queue.put_nowait(error)
        elif self._task is None or self._task.done():
            self._task = self._loop.create_task(self._reconnect_with_pauses(error))

    async def _replace_connection(self, old: _VendorConnection) -> None:
        """Opens a connection with the new key terms and keeps the old one until it is ready."""
        try:
            await self._open_connection()
        except ModelError as error:
            if self._connection is None:
                await self._reconnect_with_pauses(error)
            return
        self._send_messages(old, *old.session.closing_messages())
        self._close_connection(old)

    async def _reconnect_with_pauses(self, error: ModelError) -> None:
        for pause in RECONNECT_PAUSES_S:
            await asyncio.sleep(pause)
            try:
                await self._open_connection()
            except ModelError as failed:
                error = failed
                if not failed.retryable:
                    break
            else:
                return
        self._queue.put_nowait(error)

    def _close_connection(self, line: _VendorConnection | None) -> None:
        if line is not None and line.socket is not None:
            line.socket.close()

    # -- audio out ------------------------------------------------------------------------------------------------

    def _send_pending(self) -> None:
        line, speed = self._connection, self._wire.replay_speed
        if line is None or self._pacing_timer is not None:
            return
        while payload := self._replay.next_piece():
            self.sent_s += len(payload) / self._format.bytes_per_s
            self._send_messages(line, line.session.encode_audio(payload))
            if speed is not None and self._replay.has_backlog:
                pause_s = len(payload) / self._format.bytes_per_s / speed
                self._pacing_timer = self._loop.call_later(pause_s, self._resume_sending)
                return

    def _resume_sending(self) -> None:
        self._pacing_timer = None
        self._send_pending()

    def _send_messages(self, line: _VendorConnection, *messages: str | bytes) -> None:
        if line.socket is not None:
            for message in messages:
                line.socket.send(message)
                self._sent_at = self._loop.time()

    # -- timers ---------------------------------------------------------------------------------------------------

    def _keep_alive(self) -> None:
        message, is_idle = self._wire.idle_message, self._loop.time() - self._sent_at >= SILENT_AFTER_S / 2
        if self._connection is not None and is_idle and message is not None:
            self._send_messages(self._connection, message)
        elif self._connection is not None and is_idle:
            # as the caller's audio: the vendor's times are those of what it was sent
            self._replay.add(self._format.from_pcm(bytes(2 * int(self._wire.chunk_s * self._format.sample_rate))))
            self._send_pending()
        self._keepalive_timer = self._loop.call_later(SILENT_AFTER_S, self._keep_alive)

    def _check_answered(self) -> None:
        self._answer_timer = None
        if self._messages == self._messages_at_start and self._connection is not None:
            self._handle_broken(self._connection, self._wire.errors.timeout_error("answer to speech", ANSWER_TIMEOUT_S))
        elif self._is_awaited and self._started_at is None:
            self._queue.put_nowait(SttEvent("working", ""))
