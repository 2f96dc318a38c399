"""The programs' end of their pipe: answers, signs of life, and the loop over requests. Only the standard library.

Both ways little-endian: requests ``<IBI`` id, op, length + payload; answers ``<IBI`` id, kind, length + payload.
"""

import json
import os
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, Final, TypeVar

HEADER: Final = struct.Struct("<IBI")
JSON, PROGRESS, ERROR = 1, 2, 3
# The server ends a program that is silent for 6 s. A request that works longer than the second figure is stuck.
PROGRESS_INTERVAL_S: Final = 1.0
MAX_REQUEST_S: Final = 60.0
Worker = TypeVar("Worker")


class AnswerWriter:
    """Writes answers, and a sign of life while requests are worked on and none has had an answer for a while."""

    def __init__(self, sink: BinaryIO, interval_s: float = PROGRESS_INTERVAL_S) -> None:
        self._sink = sink
        self._interval_s = interval_s
        self._writing = threading.Lock()
        self._working_since: float | None = None
        self._written_at = 0.0
        threading.Thread(target=self._report_progress, daemon=True).start()

    def write_answer(self, request: int, kind: int, body: bytes = b"") -> None:
        with self._writing:
            self._sink.write(HEADER.pack(request, kind, len(body)) + body)
            self._sink.flush()
            self._written_at = time.monotonic()

    @contextmanager
    def reporting_progress(self) -> Iterator[None]:
        self._working_since = time.monotonic()
        try:
            yield
        finally:
            self._working_since = None

    def _report_progress(self) -> None:
        with suppress(OSError, ValueError):  # the server is gone, and so are we
            while True:
                time.sleep(self._interval_s)
                since, now = self._working_since, time.monotonic()
                # Many short requests without an answer are work too: audio that waits for its turn.
                is_silent = now - self._written_at >= self._interval_s
                if since is not None and is_silent and now - since <= MAX_REQUEST_S:
                    self.write_answer(0, PROGRESS)


def serve_requests(
    load: Callable[[], Worker],
    describe: Callable[[Worker], dict[str, Any]],
    handle: Callable[[Worker, int, int, bytes], Any],
    *,
    errors: tuple[type[Exception], ...],
) -> int:
    """Answers the requests on the standard input in order until it ends; returns the exit code.

    The first answer is what ``describe`` says, or the error that ``load`` raised. ``handle`` gets id, op and payload and
    returns None where a request has no answer.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server; it ends us by closing the pipe
    os.nice(5)  # the process that carries audio has priority
    source, answers = sys.stdin.buffer, AnswerWriter(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # library output must not mix with the answers
    try:
        with answers.reporting_progress():
            worker = load()
    except errors as error:
        answers.write_answer(0, ERROR, str(error).encode())
        return 3
    answers.write_answer(0, JSON, json.dumps(describe(worker)).encode())
    while len(header := source.read(HEADER.size)) == HEADER.size:
        request, op, length = HEADER.unpack(header)
        payload = source.read(length)
        try:
            with answers.reporting_progress():
                answer = handle(worker, request, op, payload)
            if answer is not None:
                answers.write_answer(request, JSON, json.dumps(answer).encode())
        except BrokenPipeError:
            return 0
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            answers.write_answer(request, ERROR, str(error).encode())
    return 0
