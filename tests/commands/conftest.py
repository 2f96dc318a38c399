"""Running ``offhook`` as people do: as a program of its own, on a data folder of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from offhook.kit.processes.child_process import is_running
from tests.forks import ForkedProcess, forks
from tests.once import make_once, shared_folder

START_S = 120


class Offhook:
    """The command line on one data folder. What was started is ended with the test."""

    def __init__(self, data_dir: Path, **variables: str) -> None:
        self.data_dir = data_dir
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("OFFHOOK_")}
        self.environment |= {"OFFHOOK_DATA_DIR": str(data_dir), "OFFHOOK_SAMPLE_CALL": "0"}
        # A machine that runs other tests besides is late, and its calls are wanted all the same.
        self.environment |= {"OFFHOOK_MAX_LATENESS_MS": "60000"} | variables
        self._started: list[ForkedProcess | subprocess.Popen[str]] = []

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return forks().run(*arguments, env=self.environment | variables, folder=self.data_dir.parent)

    def start(self, *arguments: str, is_bare: bool = False) -> ForkedProcess | subprocess.Popen[str]:
        """A forked process, or as people start it (``is_bare``), where its memory or its start is what matters."""
        with self._log(len(self._started)).open("w") as output:
            if is_bare:
                program = [sys.executable, "-m", "offhook.cli", *arguments]
                process = subprocess.Popen(
                    program, env=self.environment, stdout=output, stderr=subprocess.STDOUT, text=True
                )
                self._started.append(process)
            else:
                self._started.append(forks().start(*arguments, env=self.environment, stdout=output))
        return self._started[-1]

    def serve(self, *arguments: str, is_bare: bool = False) -> "Server":
        return Server(self, self.start("serve", "--port", "0", *arguments, is_bare=is_bare))

    def output(self, number: int = 0) -> str:
        return self._log(number).read_text()

    def _log(self, number: int) -> Path:
        return self.data_dir.with_suffix(f".{number}.log")

    def note(self) -> dict[str, object]:
        note: dict[str, object] = json.loads((self.data_dir / "server.json").read_text())
        return note

    def end(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.wait()


class Server:
    """A running ``offhook serve``; waits until it is ready."""

    def __init__(self, offhook: Offhook, process: ForkedProcess | subprocess.Popen[str]) -> None:
        self.process = process
        self.number = len(offhook._started) - 1
        self.offhook = offhook
        began = time.monotonic()
        while "is ready at" not in self.output():
            assert process.poll() is None, self.output()
            assert time.monotonic() - began < START_S, self.output()
            time.sleep(0.02)
        self.url = str(offhook.note()["url"])
        self.database_url = str(offhook.note()["database_url"])

    def output(self) -> str:
        return self.offhook.output(self.number)

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return httpx2.get(self.url + path, headers=headers, timeout=10)

    def post(self, path: str, body: object, **headers: str) -> httpx2.Response:
        return httpx2.post(self.url + path, json=body, headers=headers, timeout=10)

    def sign_in_token(self) -> str:
        return self.output().rpartition("/sign-in?token=")[2].split()[0]

    def family(self) -> list[int]:
        """Process ids of the server and all that it started."""
        return [self.process.pid, *descendants(self.process.pid)]


def descendants(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            child = int(stat.parent.name)
            found += [child, *descendants(child)]
    return found


def wait_until_gone(pids: list[int], *, within_s: float = 15) -> list[int]:
    """The processes that still run after this time."""
    deadline = time.monotonic() + within_s
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def copy_installation(data_dir: Path, to: Path) -> Offhook:
    # with the owner of the database's files, who is not root
    subprocess.run(["cp", "-a", data_dir, to], check=True)
    return Offhook(to)


@pytest.fixture
def offhook(tmp_path: Path) -> Iterator[Offhook]:
    """On an empty data folder."""
    made = Offhook(tmp_path / "data")
    yield made
    made.end()


@pytest.fixture
def installed(shared: Offhook, tmp_path: Path) -> Iterator[Offhook]:
    """On a data folder of this test's own where a server has been started before: a start there takes a second less."""
    made = copy_installation(shared.data_dir, tmp_path / "data")
    yield made
    made.end()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Offhook]:
    """One installation that was started once, for tests of commands that need no server."""
    first = shared_folder(tmp_path_factory) / "installation"

    def make() -> None:
        started = Offhook(first / "data")
        try:
            server = started.serve("--no-worker")
            server.process.terminate()
            server.process.wait()
        finally:
            started.end()

    make_once(first, make)
    made = copy_installation(first / "data", tmp_path_factory.mktemp("shared") / "data")
    yield made
    made.end()
