"""One log for our code and the libraries: readable lines or JSON, on stderr."""

import logging
import os
import select
import sys
import time
from collections import deque
from typing import Any, Final, Literal, TextIO

import structlog

_OURS: Final = ("offhook", "offhook_lab")
# A pipe or socket that can be written to takes so many bytes without waiting (PIPE_BUF).
_PART: Final = 4096
# Kept for a reader that is late; what comes after that is counted and lost.
MAX_HELD_BYTES: Final = 1 << 20
# At the end of the process, for a reader that is late.
_CLOSE_TIMEOUT_S: Final = 1.0


def configure_logging(level: str = "info", style: Literal["text", "json"] = "text") -> None:
    """Sends structlog and ``logging`` to stderr. Calling it again replaces the configuration."""
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    rendering: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if style == "json":
        rendering += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        # Not the renderer's own tracebacks: they show the values of variables, which include credentials and callers'
        # words, and take seconds in the loop that carries audio.
        console = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
        rendering.append(console)
    handler = UnblockedHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=rendering))
    logging.root.handlers = [handler]
    # Libraries log each request and each frame at "info", with URLs that hold keys: only their warnings are kept.
    logging.root.setLevel(max(number, logging.WARNING))
    for name in _OURS:
        logging.getLogger(name).setLevel(number)


class UnblockedHandler(logging.StreamHandler[TextIO]):
    """Writes to a stream that nothing may be reading: a collector that stands still does not stop the loop that carries audio.

    Lines wait here for the reader, and are written with the next line after it reads again.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._held: deque[bytes] = deque()
        self._held_bytes = 0
        self._lost = 0
        self._poll: select.poll | None = None
        try:
            self._file = stream.fileno()
        except (OSError, ValueError):  # a stream without a descriptor keeps no one waiting
            return
        self._poll = select.poll()
        self._poll.register(self._file, select.POLLOUT)

    def emit(self, record: logging.LogRecord) -> None:
        if self._poll is None:
            super().emit(record)
            return
        try:
            line = f"{self.format(record)}{self.terminator}"
            self._write_held(0)
            self._hold(line)
            self._write_held(0)
        except Exception:  # noqa: BLE001 - as every handler: a line that cannot be written stops nothing
            self._held.clear()
            self._held_bytes = 0
            self.handleError(record)

    def close(self) -> None:
        try:
            if self._held:
                self._write_held(_CLOSE_TIMEOUT_S)
            if self._lost and not self._held:
                self._hold("")
                self._write_held(0)
        except (OSError, ValueError):
            self._held.clear()
        super().close()

    def _hold(self, line: str) -> None:
        data = line.encode(errors="backslashreplace")
        if self._held and self._held_bytes + len(data) > MAX_HELD_BYTES:
            self._lost += 1
            return
        if self._lost:
            said = f"{self._lost} log lines were dropped here because nothing was reading the log.{self.terminator}"
            data, self._lost = said.encode() + data, 0
        parts = [data[at : at + _PART] for at in range(0, len(data), _PART)]
        self._held.extend(parts)
        self._held_bytes += len(data)

    def _write_held(self, timeout_s: float) -> None:
        assert self._poll is not None
        until = time.monotonic() + timeout_s
        while self._held and self._poll.poll(max(0.0, until - time.monotonic()) * 1000):
            part = self._held.popleft()
            self._held_bytes -= len(part)
            written = os.write(self._file, part)
            if written < len(part):
                self._held.appendleft(part[written:])
                self._held_bytes += len(part) - written
