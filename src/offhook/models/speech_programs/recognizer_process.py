"""The server's end of a recognizer program: one process for many callers, started on demand, replaced when it fails."""

import asyncio
import json
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from offhook.models.ports import ModelError
from offhook.models.speech_programs.answers import ERROR, HEADER, PROGRESS

_PACKAGE: Final = Path(__file__).resolve().parent
START_TIMEOUT_S: Final = 15.0
END_TIMEOUT_S: Final = 2.0
# The program counts as stuck when it neither answers nor reports progress for this long.
SILENCE_TIMEOUT_S: Final = 6.0


def program_command(module: str, *arguments: str) -> tuple[str, ...]:
    """Returns the command of the program whose ``main`` is in this module of the package."""
    start = f"import sys; sys.path.append(sys.argv[1]); from {_PACKAGE.name}.{module} import main; sys.exit(main())"
    # -I: not the working directory.
    return (sys.executable, "-I", "-c", start, str(_PACKAGE.parent), *arguments)


def program_died() -> ModelError:
    return ModelError("stt_program_died", "The speech recognizer stopped unexpectedly.", retryable=True)


class RecognizerProcess:
    """The client of the recognizer program. Answers keep the order of requests.

    ``send_request`` writes without waiting; ``request_answer`` awaits an answer. ``generation`` counts started
    processes: state sent to an earlier one is lost.
    """

    def __init__(self, command: Sequence[str], silence_timeout_s: float = SILENCE_TIMEOUT_S) -> None:
        self._command = tuple(command)
        self._silence_timeout_s = silence_timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._pending_answers: deque[asyncio.Future[Any]] = deque()
        self._heard_at = 0.0
        self._is_closed = False
        self.generation = 0
        self.callers = 0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    @property
    def is_awaited(self) -> bool:
        """Returns whether the program starts or owes an answer."""
        return self._starting.locked() or bool(self._pending_answers)

    async def start(self) -> None:
        """Ensures that it runs. Raises ModelError, not retryable when the recognizer cannot be loaded."""
        async with self._starting:
            if self._is_closed:
                raise ModelError("stt_closed", "The server is stopping.", retryable=False)
            if self._process is None:
                await self._launch_process()

    async def _launch_process(self) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise ModelError("stt_unavailable", f"The recognizer does not start: {error}", retryable=False) from None
        is_ready = False
        try:
            kind, hello = PROGRESS, b""
            while kind == PROGRESS:  # large models take long to load
                async with asyncio.timeout(START_TIMEOUT_S):
                    kind, hello = await _receive_answer(process)
            if kind == ERROR:
                raise ModelError("stt_unavailable", hello.decode("utf-8", "replace"), retryable=False)
            is_ready = True
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            raise ModelError("stt_unavailable", "The recognizer ended while it started.", retryable=False) from None
        finally:
            if not is_ready:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        self._process = process
        self.generation += 1
        self._reader = asyncio.create_task(self._read_answers(process))

    async def _read_answers(self, process: asyncio.subprocess.Process) -> None:
        try:
            while True:
                kind, payload = await _receive_answer(process)
                self._heard_at = asyncio.get_running_loop().time()
                if kind == PROGRESS:
                    continue
                asked = self._pending_answers.popleft()
                if asked.done():  # its caller stopped waiting
                    continue
                if kind == ERROR:
                    message = payload.decode("utf-8", "replace")
                    asked.set_exception(ModelError("stt_failed", message, retryable=True))
                else:
                    asked.set_result(json.loads(payload))
        except (asyncio.IncompleteReadError, ConnectionError, IndexError):
            self._drop_process(process)
            await process.wait()

    def _kill_process(self, process: asyncio.subprocess.Process) -> None:
        with suppress(ProcessLookupError):
            process.kill()
        self._drop_process(process)

    def _drop_process(self, process: asyncio.subprocess.Process) -> None:
        """Drops the process and fails every waiting request; a process that still runs ends with its input."""
        if self._process is process:
            self._process = None
        if process.stdin is not None:
            process.stdin.close()
        while self._pending_answers:
            asked = self._pending_answers.popleft()
            if not asked.done():
                asked.set_exception(program_died())

    def send_request(self, caller: int, op: int, payload: bytes = b"") -> None:
        """Sends a request. Does nothing without a process: the next request that needs an answer reports that."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(HEADER.pack(caller, op, len(payload)) + payload)

    async def request_answer(self, caller: int, op: int, payload: bytes = b"") -> Any:
        """Returns the parsed answer. Kills a program that is silent for ``silence_timeout_s``. Raises ModelError, retryable."""
        process = self._process
        if process is None:
            raise program_died()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        self._pending_answers.append(answer)
        self.send_request(caller, op, payload)
        asked_at = loop.time()
        while not answer.done():
            await asyncio.wait([answer], timeout=self._silence_timeout_s)
            if loop.time() - max(asked_at, self._heard_at) >= self._silence_timeout_s and self._process is process:
                self._kill_process(process)
        return await answer

    async def close(self) -> None:
        self._is_closed = True
        async with self._starting:
            if (process := self._process) is not None:
                self._kill_process(process)
                await process.wait()
            if self._reader is not None:
                await asyncio.wait([self._reader], timeout=END_TIMEOUT_S)
                self._reader.cancel()
                await asyncio.gather(self._reader, return_exceptions=True)


async def _receive_answer(process: asyncio.subprocess.Process) -> tuple[int, bytes]:
    assert process.stdout is not None
    _, kind, length = HEADER.unpack(await process.stdout.readexactly(HEADER.size))
    return kind, await process.stdout.readexactly(length)
