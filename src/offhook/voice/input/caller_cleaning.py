"""Cleans what callers say, in one thread for all calls of an event loop: their audio goes there and back in its order.

The library holds Python's lock while it works on 10 ms, so that more threads would only wait for each other.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from typing import ClassVar, Final, Literal
from weakref import WeakKeyDictionary, ref

import structlog

from offhook.kit.audio import FRAME_S, Codec
from offhook.kit.audio_cleaner import AudioCleaner, CleaningConfig

# A caller whose audio waits longer is heard as the line has it.
MAX_BEHIND_S: Final = 0.2
WhyUncleaned = Literal["failed", "missing", "behind"]

log = structlog.get_logger(__name__)


class CallerCleaning:
    """One call's audio. ``deliver`` gets every payload once and in order, cleaned or, if that fails or takes too long, as
    it was; ``on_uncleaned`` gets the reason, each of them once."""

    def __init__(
        self,
        codec: Codec,
        config: CleaningConfig,
        *,
        deliver: Callable[[bytes], None],
        on_uncleaned: Callable[[WhyUncleaned], None],
    ) -> None:
        self._codec = codec
        self._config = config
        self._deliver = deliver
        self._on_uncleaned = on_uncleaned
        self._thread = CleaningThread.of_running_loop()
        # what is in the thread, or waits for it
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._max_waiting = round(MAX_BEHIND_S / FRAME_S) * codec.frame_bytes
        # of payloads that were delivered before they came back
        self._overdue = 0
        self._cleaner: AudioCleaner | None = None
        self._has_failed = self._is_closed = False
        self._reasons: set[WhyUncleaned] = set()
        self._uncleaned = 0

    def push_frame(self, payload: bytes) -> None:
        if self._has_failed or self._overdue:
            self._pass_frame(payload)
            return
        self._waiting.append(payload)
        self._waiting_bytes += len(payload)
        if self._waiting_bytes > self._max_waiting:
            self._overdue = len(self._waiting) - 1  # the newest one has not been sent
            self._pass_waiting("behind")
            return
        self._thread.send_frame(self, payload)

    def close(self) -> None:
        """Drops what waits."""
        if self._is_closed:
            return
        self._is_closed = True
        self._waiting.clear()
        self._cleaner = None
        if self._uncleaned:
            log.info("caller_audio_uncleaned", frames=self._uncleaned, reasons=sorted(self._reasons))

    # -- in the thread --------------------------------------------------------------------------------------------

    def clean_frame(self, payload: bytes) -> bytes | Exception | None:
        """Returns the payload cleaned, or what failed; None if it is no longer needed."""
        if self._has_failed or self._is_closed or self._overdue:
            return None
        try:
            cleaner = self._cleaner
            if cleaner is None:
                cleaner = self._cleaner = AudioCleaner(self._codec, self._config)
            return cleaner.clean_frame(payload)
        except Exception as error:  # noqa: BLE001 - of a library, and the call goes on
            return error

    # -- in the loop ----------------------------------------------------------------------------------------------

    def receive_cleaned(self, cleaned: bytes | Exception | None) -> None:
        """Takes what the thread made of the oldest payload there."""
        if self._is_closed:
            self._cleaner = None
        elif self._overdue:
            self._overdue -= 1
        elif isinstance(cleaned, Exception):
            self._has_failed = True
            self._cleaner = None
            log.warning("caller_audio_cleaning_failed", error=str(cleaned))
            self._pass_waiting("missing" if isinstance(cleaned, ImportError) else "failed")
        elif cleaned is not None and self._waiting:
            self._waiting_bytes -= len(self._waiting.popleft())
            if cleaned:
                self._deliver(cleaned)

    def _pass_waiting(self, why: WhyUncleaned) -> None:
        if why not in self._reasons:
            self._reasons.add(why)
            self._on_uncleaned(why)
        waiting, self._waiting, self._waiting_bytes = self._waiting, deque(), 0
        for payload in waiting:
            self._pass_frame(payload)

    def _pass_frame(self, payload: bytes) -> None:
        self._uncleaned += 1
        self._deliver(payload)


class CleaningThread:
    """Takes what waits as soon as it has nothing to do: alone when the process is idle, of many calls when it is busy."""

    _of_loop: ClassVar["WeakKeyDictionary[asyncio.AbstractEventLoop, CleaningThread]"] = WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop, executor: Executor) -> None:
        # its key there must not be kept by its value
        self._loop = ref(loop)
        self._executor = executor
        self._next: list[tuple[CallerCleaning, bytes]] = []
        self._is_busy = False

    @classmethod
    def of_running_loop(cls) -> "CleaningThread":
        loop = asyncio.get_running_loop()
        found = cls._of_loop.get(loop)
        if found is None:
            found = cls._of_loop[loop] = cls(loop, cls.make_executor())
        return found

    @staticmethod
    def make_executor() -> Executor:
        return ThreadPoolExecutor(1, "clean-callers")

    def send_frame(self, cleaning: CallerCleaning, payload: bytes) -> None:
        self._next.append((cleaning, payload))
        if not self._is_busy:
            self._send_next()

    def _send_next(self) -> None:
        batch, self._next = self._next, []
        self._is_busy = True
        self._executor.submit(self._clean_batch, batch)

    def _clean_batch(self, batch: list[tuple[CallerCleaning, bytes]]) -> None:
        done = [(cleaning, cleaning.clean_frame(payload)) for cleaning, payload in batch]
        loop = self._loop()
        # otherwise the loop is over, and so are its calls
        if loop is not None and not loop.is_closed():
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._receive_batch, done)

    def _receive_batch(self, done: list[tuple[CallerCleaning, bytes | Exception | None]]) -> None:
        self._is_busy = False
        if self._next:
            self._send_next()
        for cleaning, cleaned in done:
            cleaning.receive_cleaned(cleaned)
