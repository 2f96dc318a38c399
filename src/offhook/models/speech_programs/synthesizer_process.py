"""The server's end of the speech program: one process for all calls, started on demand, replaced when it fails."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from offhook.models.ports import ModelError
from offhook.models.speech_programs import espeak_program as wire

SAMPLE_RATE: Final = 22050
START_TIMEOUT_S: Final = 8.0
# Synthesis is 1000 times faster than speech: a program that is silent this long with work pending is stuck.
HANG_TIMEOUT_S: Final = 0.7
COMMAND: Final = (sys.executable, "-I", str(Path(wire.__file__).resolve()))

Answer = tuple[int, bytes]


def program_died(message: str = "The speech synthesizer stopped unexpectedly.") -> ModelError:
    return ModelError("tts_program_died", message, retryable=True)


@dataclass(slots=True)
class _HelperProcess:
    """One running program. ``answers`` has a queue for each pending request."""

    process: asyncio.subprocess.Process
    library: str = ""
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


class SynthesizerProcess:
    """Shared by all voices of a process; bound to the event loop that first uses it. Raises only ModelError."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = tuple(command)
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
    def library(self) -> str:
        """Returns the espeak-ng library that the program loaded; empty before its start."""
        return self._current.library if self._current else ""

    async def start(self) -> None:
        """Ensures that it runs. Raises ModelError (not retryable) when espeak-ng cannot be loaded."""
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
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                _, kind, payload = await started.receive_answer()
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            await started.close()
            raise program_died("The speech synthesizer stopped while it was starting.") from None
        except BaseException:
            await started.close()
            raise
        if kind == wire.ERROR:
            await started.close()
            raise ModelError("tts_unavailable", payload.decode("utf-8", "replace"), retryable=False)
        hello: dict[str, Any] = json.loads(payload)
        if hello["sample_rate"] != SAMPLE_RATE:
            await started.close()
            raise ModelError("tts_unavailable", f"espeak-ng speaks at {hello['sample_rate']} Hz.", retryable=False)
        started.library = hello["library"]
        started.last_output_at = asyncio.get_running_loop().time()
        started.reader = asyncio.create_task(started.read_answers())
        return started

    async def speak(self, text: str, *, voice: str, wpm: int) -> AsyncGenerator[bytes, None]:
        """Yields PCM16 mono at 22,050 Hz as it is made. Replaces a program that dies once; the audio continues."""
        body = {"text": text, "voice": voice, "wpm": wpm}
        sent = 0
        for is_last in (False, True):
            skip = sent
            try:
                async with aclosing(self._request_answers(wire.SPEAK, body)) as answers:
                    async for kind, payload in answers:
                        if kind != wire.PCM:
                            continue
                        # equal text sounds the same to within a few samples: skip what was already heard
                        fresh, skip = payload[skip:], max(0, skip - len(payload))
                        sent += len(fresh)
                        if fresh:
                            yield fresh
                return
            except ModelError as error:
                if is_last or not error.retryable:
                    raise

    async def word_phonemes(self, words: Sequence[str], *, voice: str) -> dict[str, str]:
        """Returns the IPA of each word."""
        async with aclosing(self._request_answers(wire.PHONEMES, {"words": list(words), "voice": voice})) as answers:
            async for kind, payload in answers:
                if kind == wire.JSON:
                    found: dict[str, str] = json.loads(payload)
                    return found
        raise program_died("The speech program answered nothing.")

    async def _request_answers(self, op: int, body: object) -> AsyncGenerator[Answer, None]:
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
                async with asyncio.timeout(HANG_TIMEOUT_S):
                    answer = await answers.get()
            except TimeoutError:
                if loop.time() - max(asked_at, program.last_output_at) >= HANG_TIMEOUT_S:
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
