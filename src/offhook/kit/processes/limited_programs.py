"""Opens untrusted files in a child process with limits on time, memory and disk."""

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LAUNCHER: Final = Path(__file__).with_name("limited_program.py")
TIMED_OUT: Final = -1


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
    """``exit_code`` is negative for a signal or a timeout; ``stdout`` is the end of the output."""

    exit_code: int
    stdout: str


class SandboxedProcessRunner:
    """Runs at most ``max_concurrent`` programs at once in one process; others wait their turn."""

    def __init__(self, limits: ProcessLimits, *, max_concurrent: int) -> None:
        self._limits = limits
        self._slots = asyncio.Semaphore(max_concurrent)

    async def run(self, program: Path | str, *arguments: str, limits: ProcessLimits | None = None) -> ProcessResult:
        """Runs one of our files, or a module by name, with the arguments; the child ends with this process.

        ``limits`` replace the runner's own.
        """
        async with self._slots:
            return await asyncio.to_thread(self._run_program, str(program), arguments, limits or self._limits)

    def _run_program(self, program: str, arguments: tuple[str, ...], limits: ProcessLimits) -> ProcessResult:
        numbers = [str(limits.cpu_s), str(limits.memory_bytes), str(limits.file_bytes)]
        # isolated: imports ignore untrusted folders and environment variables
        command = [sys.executable, "-I", str(_LAUNCHER), *numbers, program, *arguments]
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "RAYON_NUM_THREADS": "1",
            "TOKENIZERS_PARALLELISM": "false",
        }
        try:
            done = subprocess.run(  # noqa: S603 - our own program; what strangers sent is only an argument
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=limits.timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return ProcessResult(TIMED_OUT, "")
        return ProcessResult(done.returncode, done.stdout[-limits.output_bytes :].decode("utf-8", "replace").strip())
