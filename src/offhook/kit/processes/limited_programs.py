"""Opens untrusted files in a child process with limits on time, memory and disk, and without rights.

The child has no network, starts no program, sees no file but what it is given and what it imports, and has none of
our environment. Started by root it becomes a user of its own (:func:`reader_user_id`); Landlock and seccomp hold
otherwise too. Where a kernel or a container lacks one of them the program still runs, and one line in the log says so.
"""

import contextlib
import os
import selectors
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import structlog

from offhook.kit.processes.fair_places import MAX_WAITING, FairPlaces
from offhook.kit.processes.system_users import find_unused_user_id
from offhook.kit.tasks import finish_in_thread

_LAUNCHER: Final = Path(__file__).with_name("limited_program.py")
TIMED_OUT: Final = -1
# What the launcher says before the program runs.
_GAPS_LINE: Final = "sandbox:"
_MAX_ERROR_BYTES: Final = 4000
# Limits for :func:`find_sandbox_gaps`.
_PROBE: Final = Path(__file__).with_name("empty_program.py")
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """``timeout_s`` in wall-clock time, ``cpu_s`` in processor time; ``file_bytes``: the largest file that it may
    write.

    Only the last ``output_bytes`` of its output are kept: one line by default, preceded by a library's own
    messages.
    """

    timeout_s: float
    cpu_s: int
    memory_bytes: int
    file_bytes: int
    output_bytes: int = 4000


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """``exit_code`` is negative for a signal or a timeout; ``stdout`` is the end of the output; ``gaps`` names what
    the sandbox lacks: ``user``, ``landlock``, ``seccomp``.
    """

    exit_code: int
    stdout: str
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InputFile:
    """An argument: a file that the program may read. It gets a path."""

    path: Path


@dataclass(frozen=True, slots=True)
class OutputFile:
    """An argument: a file that the program writes, created or emptied. It gets the number of an open descriptor."""

    path: Path


ProgramArgument = str | InputFile | OutputFile


class SandboxedProcessRunner:
    """Runs at most ``max_concurrent`` programs at once in one process; others wait for the turn of their owner."""

    def __init__(self, limits: ProcessLimits, *, max_concurrent: int, max_waiting: int = MAX_WAITING) -> None:
        self._limits = limits
        self._places = FairPlaces(max_concurrent, max_waiting=max_waiting)

    async def run(
        self, program: Path | str, *arguments: ProgramArgument, owner: int | None, limits: ProcessLimits | None = None
    ) -> ProcessResult:
        """Runs one of our files, or a module by name, with the arguments; the child ends with this process, or when
        the caller is canceled.

        ``owner`` is the organization that it is for; None: the server itself. ``limits`` replace the runner's own. Raises
        TooManyRequests (429) when the owner has too many waiting.
        """
        async with self._places.take(owner):
            child = _Child()
            command = (str(program), arguments, limits or self._limits, child)
            return await finish_in_thread(_run_program, *command, on_cancel=child.end)

    def require_room(self, owner: int | None) -> None:
        """Raises TooManyRequests (429) when :meth:`run` would, before work for its arguments is done."""
        self._places.require_room(owner)


class _Child:
    """The process that a thread starts and another may end at any time, also before it has begun."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ended = False

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._process = process
            if self._is_ended:
                process.kill()

    def end(self) -> None:
        with self._lock:
            self._is_ended = True
            if self._process is not None:
                self._process.kill()


async def find_sandbox_gaps() -> tuple[str, ...]:
    """Returns what the sandbox of readers lacks on this machine."""
    limits = ProcessLimits(timeout_s=30.0, cpu_s=10, memory_bytes=1 << 30, file_bytes=0)
    return (await SandboxedProcessRunner(limits, max_concurrent=1).run(_PROBE, owner=None)).gaps


@cache
def reader_user_id() -> int | None:
    """Returns the user that readers become when root starts them; None for another user."""
    return find_unused_user_id() if os.geteuid() == 0 else None


def _run_program(
    program: str, arguments: tuple[ProgramArgument, ...], limits: ProcessLimits, child: _Child
) -> ProcessResult:
    user_id = reader_user_id()
    settings = [limits.cpu_s, limits.memory_bytes, limits.file_bytes, "" if user_id is None else user_id]
    # isolated: imports ignore untrusted folders and environment variables
    command = [sys.executable, "-I", str(_LAUNCHER), *map(str, settings), program, *map(_encode_argument, arguments)]
    environment = {
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "RAYON_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    deadline = time.monotonic() + limits.timeout_s
    process = subprocess.Popen(  # noqa: S603 - our own program; what strangers sent is only an argument
        command,
        env=environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # without our terminal
    )
    with process:
        try:
            child.begin(process)
            output, errors = _collect_output(process, deadline, limits.output_bytes)
            process.wait(max(0.0, deadline - time.monotonic()))
        except (TimeoutError, subprocess.TimeoutExpired):
            return ProcessResult(TIMED_OUT, "")
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
    return ProcessResult(process.returncode, output.decode("utf-8", "replace").strip(), _read_gaps(errors))


def _encode_argument(argument: ProgramArgument) -> str:
    if isinstance(argument, str):
        return f"={argument}"
    return f"{'<' if isinstance(argument, InputFile) else '>'}{argument.path.absolute()}"


def _collect_output(process: subprocess.Popen[bytes], deadline: float, output_bytes: int) -> tuple[bytes, bytes]:
    """Returns the ends of the output and of the errors, however much is written. Raises TimeoutError."""
    assert process.stdout is not None
    assert process.stderr is not None
    ends = {
        process.stdout.fileno(): (bytearray(), output_bytes),
        process.stderr.fileno(): (bytearray(), _MAX_ERROR_BYTES),
    }
    with selectors.DefaultSelector() as selector:
        for descriptor in ends:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            for key, _ in selector.select(left):
                part = os.read(key.fd, 1 << 16)
                if not part:
                    selector.unregister(key.fd)
                kept, most = ends[key.fd]
                kept += part
                del kept[:-most]
    (output, _), (errors, _) = ends.values()
    return bytes(output), bytes(errors)


def _read_gaps(errors: bytes) -> tuple[str, ...]:
    """Returns what the launcher could not take away; logs it once, or the failure of the launcher."""
    line = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if not line.startswith(_GAPS_LINE):
        log.error("limited_program_not_started", error=line)
        return ()
    gaps = tuple(gap for gap in line.removeprefix(_GAPS_LINE).split(",") if gap)
    if gaps:
        _warn_of_gaps(gaps)
    return gaps


@cache
def _warn_of_gaps(gaps: tuple[str, ...]) -> None:
    log.warning("sandbox_incomplete", lacks=gaps, hint="files of strangers are read with more rights than needed")
