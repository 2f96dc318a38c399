"""Keeps a child program running that never outlives this process."""

import asyncio
import contextlib
import os
import subprocess
import time
from collections.abc import Sequence

import structlog

from offhook.kit.processes.child_process import die_with_parent
from offhook.kit.processes.forked_child import ForkedChild

log = structlog.get_logger(__name__)

MIN_PAUSE_S = 1.0
MAX_PAUSE_S = 30.0
# A program that ran for this long was healthy: its next start has no pause again.
MIN_STABLE_S = 60.0
POLL_INTERVAL_S = 0.2
STOP_TIMEOUT_S = 25.0


class SupervisedProcess:
    """``run`` restarts the program whenever it ends, with growing pauses. Use it on the main thread's loop.

    ``niceness`` lowers its priority below ours, 0 to 19. ``first`` is the program as a child that waits already: it is
    the first one to run.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: dict[str, str] | None = None,
        niceness: int = 0,
        first: ForkedChild | None = None,
    ) -> None:
        self._command = list(command)
        self._niceness = niceness
        self._first = first
        self._environment = os.environ | (environment or {})
        self._process: subprocess.Popen[bytes] | ForkedChild | None = None
        self.starts = 0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def run(self) -> None:
        """Runs until canceled; the program is then asked to end, and killed after 25 s."""
        pause_s = MIN_PAUSE_S
        try:
            while True:
                process = self._spawn_process()
                began = time.monotonic()
                await _wait_for_exit(process, POLL_INTERVAL_S)
                lasted = time.monotonic() - began
                if lasted > MIN_STABLE_S:
                    pause_s = MIN_PAUSE_S
                log.warning("child_ended", command=self._command[-1], code=process.returncode, again_in_s=pause_s)
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, MAX_PAUSE_S)
        finally:
            await asyncio.shield(self._terminate_process())

    def _spawn_process(self) -> subprocess.Popen[bytes] | ForkedChild:
        self.starts += 1
        if self._first is not None:
            first, self._first = self._first, None
            first.release(self._environment, self._niceness)
            self._process = first
            return first
        set_death_signal = die_with_parent()

        def prepare_child() -> None:
            set_death_signal()
            os.nice(self._niceness)

        self._process = subprocess.Popen(  # noqa: S603 - our own program
            self._command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            preexec_fn=prepare_child,  # noqa: PLW1509 - two system calls, nothing that locks
        )
        return self._process

    async def _terminate_process(self) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await _wait_for_exit(process, 0.02)
        if process.poll() is None:
            process.kill()
            process.wait()


async def run_once(command: Sequence[str], *, environment: dict[str, str]) -> int:
    """Runs a program of ours to its end without its output, and returns its exit code; canceled, the program is killed."""
    process = subprocess.Popen(  # noqa: S603, ASYNC220 - our own program; the main thread's child ends with it
        list(command),
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=die_with_parent(),  # noqa: PLW1509 - one system call, nothing that locks
    )
    try:
        await _wait_for_exit(process, POLL_INTERVAL_S)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return process.returncode


async def _wait_for_exit(process: subprocess.Popen[bytes] | ForkedChild, every_s: float) -> None:
    while process.poll() is None:  # noqa: ASYNC110 - uvloop's own watching of children would take the signal from others
        await asyncio.sleep(every_s)
