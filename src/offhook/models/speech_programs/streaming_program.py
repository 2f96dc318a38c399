"""The server's end of a program that streams audio: one process for all calls, started on demand, replaced when it fails."""

import asyncio
import json
import subprocess
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from offhook.models.ports import ModelError
from offhook.models.speech_programs import espeak_program as wire

# A sign of life of a program that loads or works for long; it answers nothing.
PROGRESS: Final = 2

Answer = tuple[int, bytes]


def program_died(message: str = "The speech synthesizer stopped unexpectedly.") -> ModelError:
    return ModelError("tts_program_died", message, retryable=True)


@dataclass(slots=True)
class _HelperProcess:
    """One running program. ``answers`` has a queue for each pending request."""

    process: asyncio.subprocess.Process
    hello: dict[str, Any] = field(default_factory=dict)
    last_output_at: float = 0.0
    answers: dict[int, asyncio.Queue[Answer | None]] = field(default_factory=dict)
    reader: asyncio.Task[None] | None = None
    is_dead: bool = False

    def send_request(self, request: int, op: int, body: object = None) -> None:
        assert self.process.stdin is not None
        payload = b"" if body is None else json.dumps(body).encode()
        if not self.is_dead:
            self.process.stdin.write(wire.HEADER.pack(request, op, len(payload)) + payload)

    async def receive_answer(self) -> tuple[int, int, bytes]:
        assert self.process.stdout is not None
        request, kind, length = wire.HEADER.unpack(await self.process.stdout.readexactly(wire.HEADER.size))
        return request, kind, await self.process.stdout.readexactly(length) if length else b""

    async def read_answers(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while True:
                request, kind, payload = await self.receive_answer()
                self.last_output_at = loop.time()
                if (waiting := self.answers.get(request)) is not None:
                    waiting.put_nowait((kind, payload))
        except (asyncio.IncompleteReadError, ConnectionError):
            self.mark_lost()

    def mark_lost(self) -> None:
        """Drops the process and fails every waiting request; a process that still runs ends with its input."""
        self.is_dead = True
        if self.process.stdin is not None:
            self.process.stdin.close()
        for waiting in self.answers.values():
            waiting.put_nowait(None)

    def kill(self) -> None:
        """Kills it unless it has ended: signaling an ended process would race with asyncio's wait for it."""
        if not self.is_dead:
            with suppress(ProcessLookupError):
                self.process.kill()
            self.mark_lost()

    async def close(self) -> None:
        self.kill()
        if self.reader is not None:
            self.reader.cancel()
            await asyncio.gather(self.reader, return_exceptions=True)
        await self.process.wait()


class StreamingProgram:
    """Shared by all voices of a process; bound to the event loop that first uses it. Raises only ModelError.

    The program counts as stuck when work is pending and it is silent for ``silence_timeout_s``.
    """

    def __init__(self, command: Sequence[str], *, start_timeout_s: float, silence_timeout_s: float) -> None:
        self._command = tuple(command)
        self._start_timeout_s = start_timeout_s
        self._silence_timeout_s = silence_timeout_s
        self._current: _HelperProcess | None = None
        self._starting = asyncio.Lock()
        self._next_id = 1
        self._is_closed = False
        self.restarts = -1

    @property
    def pid(self) -> int | None:
        current = self._current
        return None if current is None or current.is_dead else current.process.pid

    @property
    def is_awaited(self) -> bool:
        """Returns whether the program starts or owes an answer."""
        return self._starting.locked() or (self._current is not None and bool(self._current.answers))

    @property
    def hello(self) -> dict[str, Any]:
        """Returns what the program said of itself at its start; empty before."""
        return self._current.hello if self._current else {}

    def check_hello(self, hello: dict[str, Any]) -> None:
        """Raises ModelError for a program that cannot be used."""

    async def start(self) -> None:
        """Ensures that it runs. Raises ModelError (not retryable) when what it needs cannot be loaded."""
        await self._ensure_running()

    async def _ensure_running(self) -> _HelperProcess:
        async with self._starting:
            if self._is_closed:
                raise ModelError("tts_closed", "The server is stopping.", retryable=False)
            if self._current is None or self._current.is_dead:
                if self._current is not None:
                    await self._current.close()
                self._current = await self._launch_process()
                self.restarts += 1
            return self._current

    async def _launch_process(self) -> _HelperProcess:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise ModelError(
                "tts_unavailable", f"The speech program does not start: {error}", retryable=False
            ) from None
        started = _HelperProcess(process)
        is_ready = False
        try:
            kind, payload = PROGRESS, b""
            while kind == PROGRESS:  # large models take long to load
                async with asyncio.timeout(self._start_timeout_s):
                    _, kind, payload = await started.receive_answer()
            if kind == wire.ERROR:
                raise ModelError("tts_unavailable", payload.decode("utf-8", "replace"), retryable=False)
            started.hello = json.loads(payload)
            self.check_hello(started.hello)
            is_ready = True
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            raise program_died("The speech synthesizer stopped while it was starting.") from None
        finally:
            if not is_ready:
                await started.close()
        started.last_output_at = asyncio.get_running_loop().time()
        started.reader = asyncio.create_task(started.read_answers())
        return started

    async def request_answers(self, op: int, body: object) -> AsyncGenerator[Answer, None]:
        """Yields the answers to a request until its end; closing the iterator cancels it."""
        program = await self._ensure_running()
        request, self._next_id = self._next_id, self._next_id % 0xFFFFFFF0 + 1
        answers: asyncio.Queue[Answer | None] = asyncio.Queue()
        program.answers[request] = answers
        is_done = False
        try:
            program.send_request(request, op, body)
            while not is_done:
                answer = await self._next_answer(program, answers)
                is_done = answer[0] in (wire.END, wire.ERROR)
                if answer[0] == wire.ERROR:
                    raise ModelError("tts_failed", answer[1].decode("utf-8", "replace"), retryable=False)
                yield answer
        finally:
            del program.answers[request]
            if not is_done:
                program.send_request(request, wire.CANCEL)

    async def _next_answer(self, program: _HelperProcess, answers: asyncio.Queue[Answer | None]) -> Answer:
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        while True:
            try:
                async with asyncio.timeout(self._silence_timeout_s):
                    answer = await answers.get()
            except TimeoutError:
                if loop.time() - max(asked_at, program.last_output_at) >= self._silence_timeout_s:
                    program.kill()
                continue
            if answer is None:
                raise program_died()
            return answer

    async def close(self) -> None:
        self._is_closed = True
        async with self._starting:
            if self._current is not None:
                await self._current.close()
                self._current = None
