"""Programs of ours as processes of their own that do not pay for their imports: one process that has them forks for each.

``python -m offhook.cli`` takes two to four seconds of CPU before its first line, nearly all of it imports. A forked one is
a real process all the same: its own arguments, environment, output, exit code and signals.
"""

import asyncio
import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO

from tests.once import is_shared

PROJECT = Path(__file__).parents[1]
COMMAND_LINE = "offhook.cli:main"
# What most programs import; the commands are named, as the command line loads only the one that it was asked for.
_IMPORTS = ("offhook.cli", "offhook.api", "offhook.worker", "offhook.bootstrap")
_MAX_MESSAGE = 1 << 17


class ForkedProcess:
    """What ``subprocess.Popen`` is to a program, in the parts that tests use."""

    def __init__(self, forks: "Forks", pid: int) -> None:
        self._forks = forks
        self.pid = pid

    @property
    def returncode(self) -> int | None:
        return self._forks.exit_code(self.pid)

    def poll(self) -> int | None:
        return self._forks.exit_code(self.pid)

    def wait(self, timeout: float | None = None) -> int:
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self._forks.exit_code(self.pid, wait_s=0.5)) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    async def ended(self) -> int:
        """Its exit code; others run on the loop while it has not ended."""
        while (code := self.poll()) is None:
            await asyncio.sleep(0.02)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class Forks:
    """A connection to the process that forks, which all test processes of a run share. Not for several threads."""

    def __init__(self) -> None:
        self._exit_codes: dict[int, int | None] = {}
        # xdist's processes are children of the one that began the run
        run = os.getppid() if is_shared() else os.getpid()
        address = f"\0offhook-tests-{run}"
        self._control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # The first one binds the address: whoever comes second connects, and waits for the imports of what was started.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(address)
            listener.listen()
            _start_zygote(listener.fileno(), run)
        self._connect(address)

    def _connect(self, address: str) -> None:
        deadline = time.monotonic() + 10
        while True:
            try:
                self._control.connect(address)
            except ConnectionRefusedError:
                # bound, and not listened at yet
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    def start(
        self,
        *arguments: str,
        env: Mapping[str, str],
        stdout: IO[str],
        stderr: IO[str] | None = None,
        target: str = COMMAND_LINE,
    ) -> ForkedProcess:
        """Starts ``target`` (``module:function``, called without arguments; what it returns is the exit code).

        ``stderr`` goes to ``stdout`` by default.
        """
        order = json.dumps({"arguments": arguments, "env": dict(env), "target": target}).encode()
        socket.send_fds(self._control, [order], [stdout.fileno(), (stderr or stdout).fileno()])
        known = set(self._exit_codes)
        while not (new := set(self._exit_codes) - known):
            self._receive(60)
        return ForkedProcess(self, new.pop())

    def run(
        self, *arguments: str, env: Mapping[str, str], folder: Path, timeout: float = 60, target: str = COMMAND_LINE
    ) -> subprocess.CompletedProcess[str]:
        """Waits for its end, as ``subprocess.run`` does; what it prints passes through files in ``folder``."""
        out, err = folder / f"{time.monotonic_ns()}.out", folder / f"{time.monotonic_ns()}.err"
        with out.open("w") as stdout, err.open("w") as stderr:
            process = self.start(*arguments, env=env, stdout=stdout, stderr=stderr, target=target)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        return subprocess.CompletedProcess(arguments, code, out.read_text(), err.read_text())

    def exit_code(self, pid: int, *, wait_s: float = 0) -> int | None:
        while self._exit_codes[pid] is None and self._receive(wait_s, is_optional=True):
            pass
        return self._exit_codes[pid]

    def close(self) -> None:
        self._control.close()

    def _receive(self, wait_s: float, *, is_optional: bool = False) -> bool:
        readable, _, _ = select.select([self._control], [], [], wait_s)
        if not readable:
            assert is_optional, "the process that forks does not answer"
            return False
        message = self._control.recv(_MAX_MESSAGE)
        assert message, "the process that forks has ended"
        pid, code = json.loads(message)
        self._exit_codes[pid] = code
        return True


def _start_zygote(listener: int, run: int) -> None:
    # It outlives the test process that started it, which must not wait for it.
    subprocess.Popen(
        [sys.executable, "-m", "tests.forks", str(listener), str(run)],
        pass_fds=[listener],
        stdin=subprocess.DEVNULL,
        cwd=PROJECT,
        env={name: value for name, value in os.environ.items() if not name.startswith("OFFHOOK_")},
    )


@cache
def forks() -> Forks:
    """The one of this test process; what it started ends with it."""
    made = Forks()
    atexit.register(made.close)
    return made


class _Zygote:
    """The other side: forks for every order, and tells when a process has ended. It ends with the run."""

    def __init__(self, listener: socket.socket, run: int) -> None:
        self._listener = listener
        self._run = run
        self._connections: dict[int, socket.socket] = {}
        self._owners: dict[int, int] = {}
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        os.set_blocking(self._woken, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)

    def serve(self) -> str | None:
        """In each forked process, its target; None in the process itself, when the run is over."""
        while self._connections or Path(f"/proc/{self._run}").exists():
            waited_for = [self._listener.fileno(), self._woken, *self._connections]
            readable, _, _ = select.select(waited_for, [], [], 1.0)
            for fd in readable:
                if fd == self._woken:
                    self._reap()
                elif fd == self._listener.fileno():
                    connection, _ = self._listener.accept()
                    self._connections[connection.fileno()] = connection
                elif (target := self._take_order(fd)) is not None:
                    return target
        return None

    def _take_order(self, fd: int) -> str | None:
        connection = self._connections[fd]
        order, fds, _, _ = socket.recv_fds(connection, _MAX_MESSAGE, 2)
        if not order:
            self._forget(fd)
            return None
        pid = os.fork()
        if pid == 0:
            return self._become(json.loads(order), fds)
        self._owners[pid] = fd
        self._tell(fd, pid, None)
        for passed in fds:
            os.close(passed)
        return None

    def _forget(self, fd: int) -> None:
        """A test process has ended: what it started ends too."""
        self._connections.pop(fd).close()
        for pid, owner in list(self._owners.items()):
            if owner == fd:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                self._owners[pid] = -1

    def _tell(self, fd: int, pid: int, code: int | None) -> None:
        if fd in self._connections:
            with contextlib.suppress(ConnectionError):
                self._connections[fd].send(json.dumps([pid, code]).encode())

    def _reap(self) -> None:
        os.read(self._woken, 4096)
        while self._owners:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            self._tell(self._owners.pop(pid), pid, os.waitstatus_to_exitcode(status))

    def _become(self, order: dict[str, object], fds: Sequence[int]) -> str:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(fds[0], 1)
        os.dup2(fds[1], 2)
        for fd in (*fds, self._woken, self._waker):
            os.close(fd)
        for connection in (self._listener, *self._connections.values()):
            connection.close()
        environment = order["env"]
        assert isinstance(environment, dict)
        os.environ.clear()
        os.environ.update(environment)
        arguments = order["arguments"]
        assert isinstance(arguments, list)
        target = str(order["target"])
        program = "offhook" if target == COMMAND_LINE else target.partition(":")[0].replace(".", "/") + ".py"
        sys.argv = [program, *arguments]
        return target


def main() -> None:
    # Of this process's own: whoever interrupts the tests from a terminal interrupts it too.
    zygote = _Zygote(socket.socket(fileno=int(sys.argv[1])), run=int(sys.argv[2]))
    gc.disable()
    for name in _IMPORTS:
        importlib.import_module(name)
    importlib.import_module("offhook.cli").build_cli()
    gc.collect()
    gc.freeze()
    gc.enable()
    target = zygote.serve()
    if target is not None:
        module, _, function = target.partition(":")
        sys.exit(getattr(importlib.import_module(module), function)())


if __name__ == "__main__":
    main()
