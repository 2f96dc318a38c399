"""Keeps one helper program running and exchanges frames with it; when it dies its users are told and it starts anew."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Sequence

import structlog

from offhook.helpers import frames
from offhook.kit.process import die_with_parent

log = structlog.get_logger(__name__)


class HelperProgram:
    """``on_frame`` gets (channel, kind, payload); ``on_death`` runs when the program is gone, however it went.

    ``arguments`` follow ``python -m <module>``. :meth:`ensure` starts it; :meth:`send` needs it running.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        *,
        on_frame: Callable[[int, int, bytes], None],
        on_death: Callable[[], None],
    ) -> None:
        self._command = [sys.executable, "-m", module, *arguments]
        self._on_frame = on_frame
        self._on_death = on_death
        self._process: subprocess.Popen[bytes] | None = None
        self._writer: asyncio.WriteTransport | None = None
        self._reader: asyncio.BaseTransport | None = None
        self._starting: asyncio.Lock = asyncio.Lock()

    @property
    def is_running(self) -> bool:
        return self._writer is not None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def ensure(self) -> None:
        """Start the program unless it runs; raises OSError when it cannot be started."""
        async with self._starting:
            if self._writer is not None:
                return
            loop = asyncio.get_running_loop()
            process = subprocess.Popen(  # noqa: ASYNC220, S603 - our own program; a fork takes a few ms, once
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                preexec_fn=die_with_parent(),  # noqa: PLW1509 - one system call, nothing that locks
            )
            self._process = process
            writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
            reader, _ = await loop.connect_read_pipe(lambda: _Reader(self, process), process.stdout)
            self._writer, self._reader = writer, reader

    def send(self, channel: int, kind: int, payload: bytes = b"") -> None:
        if self._writer is not None:
            self._writer.write(frames.pack(channel, kind, payload))

    def received(self, channel: int, kind: int, payload: bytes) -> None:
        self._on_frame(channel, kind, payload)

    def gone(self, process: subprocess.Popen[bytes]) -> None:
        """The program closed its pipe."""
        if process is not self._process:
            return
        self._close_pipes()
        process.kill()
        process.wait()
        self._process = None
        self._on_death()

    def kill(self) -> None:
        """End the program at once: it is stuck, or no longer needed."""
        process, self._process = self._process, None
        self._close_pipes()
        if process is not None:
            process.kill()
            process.wait()

    def _close_pipes(self) -> None:
        for transport in (self._writer, self._reader):
            if transport is not None:
                transport.close()
        self._writer = self._reader = None


class _Reader(asyncio.Protocol):
    def __init__(self, owner: HelperProgram, process: subprocess.Popen[bytes]) -> None:
        self._owner = owner
        self._process = process
        self._buffer = bytearray()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        try:
            for channel, kind, payload in frames.unpack(self._buffer):
                self._owner.received(channel, kind, payload)
        except ValueError:
            log.warning("helper_frame_broken", command=self._process.args)
            self._owner.gone(self._process)

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.gone(self._process)
