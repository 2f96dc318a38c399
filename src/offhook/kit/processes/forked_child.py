"""A part of this program in a child that is forked early: it shares the memory of all that was imported before."""

import ctypes
import gc
import json
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Final, NoReturn

from offhook.kit.processes.child_process import die_with_parent

_PR_SET_NAME: Final = 15
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class ForkedChild:
    """A child that waits until it is released, with the methods of ``subprocess.Popen`` that its parent needs."""

    def __init__(self, pid: int, orders: int) -> None:
        self.pid = pid
        self._orders: int | None = orders
        self.returncode: int | None = None

    def release(self, environment: Mapping[str, str], niceness: int = 0) -> None:
        """Lets the child begin, with these variables added to ours, and its priority lowered by ``niceness``."""
        if self._orders is None:
            return
        order = json.dumps({"environment": dict(environment), "niceness": niceness}).encode() + b"\n"
        with os.fdopen(self._orders, "wb") as pipe:
            self._orders = None
            pipe.write(order)

    def close(self) -> None:
        """Ends a child that was never released."""
        if self._orders is not None:
            os.close(self._orders)
            self._orders = None
            self.wait()

    def poll(self) -> int | None:
        """Returns the exit code, negative for a signal, or None while the child runs."""
        if self.returncode is None:
            self._wait(os.WNOHANG)
        return self.returncode

    def wait(self) -> int:
        if self.returncode is None:
            self._wait(0)
        return self.returncode or 0

    def _wait(self, options: int) -> None:
        try:
            pid, status = os.waitpid(self.pid, options)
        except ChildProcessError:  # somebody else has waited for it
            self.returncode = 1
            return
        if pid == self.pid:
            self.returncode = os.waitstatus_to_exitcode(status)

    def terminate(self) -> None:
        self._send(15)

    def kill(self) -> None:
        self._send(9)

    def _send(self, signum: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, signum)


def fork_child(work: Callable[[], None], *, name: str) -> ForkedChild | None:
    """Forks a child that does ``work`` once it is released, and ends with its parent.

    Call it on the main thread before there are other threads, event loops, locks or sockets. Returns None where a
    process cannot be divided: outside of Linux, and beside threads of Python.
    """
    if _libc is None or threading.active_count() > 1:
        return None
    # what is there now stays: the collector would write into pages that both share
    gc.freeze()
    sys.stdout.flush()
    sys.stderr.flush()
    orders, ours = os.pipe()
    set_death_signal = die_with_parent()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        _run_child(work, orders, set_death_signal, name)
    os.close(orders)
    return ForkedChild(pid, ours)


def _run_child(work: Callable[[], None], orders: int, set_death_signal: Callable[[], None], name: str) -> NoReturn:
    code = 1
    try:
        set_death_signal()
        assert _libc is not None
        _libc.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0)
        with os.fdopen(orders, "rb") as pipe:
            line = pipe.readline()
        if line:
            order = json.loads(line)
            os.environ.update(order["environment"])
            os.nice(order["niceness"])
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            work()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        code = 130
    except BaseException:  # noqa: BLE001 - the parent's stack is above us, and is not ours to unwind
        traceback.print_exc()
    finally:
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
