"""Child processes that never outlive us: killing the parent ends its children."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(signum: int = signal.SIGKILL) -> Callable[[], None]:
    """Returns a ``preexec_fn`` that makes the kernel signal the child when the *thread* that started it ends.

    Start such children from the main thread. Does nothing where the kernel has no such call (not Linux).
    """
    parent = os.getpid()

    def set_death_signal() -> None:
        if _libc is None:
            return
        _libc.prctl(_PR_SET_PDEATHSIG, int(signum), 0, 0, 0)
        if os.getppid() != parent:  # the parent died between fork and here
            os.kill(os.getpid(), signum)

    return set_death_signal


def is_running(pid: int) -> bool:
    """Returns whether a process has this id and is not a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # it has exited, or the system has no /proc
        return not Path("/proc/self").exists()
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def is_running_in(pid: int, folder: Path) -> bool:
    """Returns whether this process runs in ``folder``; False where that cannot be determined."""
    try:
        return is_running(pid) and Path(f"/proc/{pid}/cwd").samefile(folder)
    except OSError:
        return False


def obey_stop_signals() -> None:
    """Lets a stop signal end a container's first process while it starts: the kernel ends it by none that it does not handle.

    What serves or works replaces this with an orderly end.
    """
    if os.getpid() == 1:
        signal.signal(signal.SIGTERM, lambda number, _: os._exit(128 + number))
