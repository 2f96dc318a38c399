"""The embedded PostgreSQL: binaries from a wheel under our own small supervisor, so that one command is enough.

The server listens on a unix socket only. It is a child of the process that starts it, and the kernel signals it to
shut down cleanly when that process dies, even by ``kill -9``. Started by root it runs as a user of its own
(``kit.processes.system_users``): whoever shares its user reads its files. Its folder is then passed as an open file
descriptor (``/proc/self/fd/N``), so that no parent folder has to be opened to that user.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import structlog

from offhook.kit.database.postgres_program import (
    INITDB_OPTIONS,
    PostgresError,
    find_binaries,
    find_server_owner,
)
from offhook.kit.database.prepared_cluster import DamagedCluster, unpack_cluster
from offhook.kit.files.synced_folder import sync_folder
from offhook.kit.processes.child_process import die_with_parent, is_running_in
from offhook.kit.processes.priority import lower_priority
from offhook.kit.processes.system_users import hand_over_folder

_MAJOR = "18"
_DATABASE = "offhook"
_MAX_SOCKET_PATH = 107 - len("/.s.PGSQL.5432")
_SOCKET_PREFIX = "offhook-pg-"
_MAX_LOG_BYTES = 5_000_000

# On a machine whose cores are all busy, the frames of calls come first (docs/decisions/0145-database-yields.md).
NICENESS: Final = 10
# Small and safe. Buffers are allocated as needed: of 128 MB (the server's own default) an idle server uses 40, and with
# 24 each list of 100,000 runs and each search of 100,000 chunks was read again from disk. io_method=sync saves three
# helper processes of version 18.
_OPTIONS = {
    "listen_addresses": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "max_wal_size": "256MB",
    "min_wal_size": "32MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_worker_processes": "4",
    "max_parallel_workers": "0",
    "autovacuum_max_workers": "1",
    "autovacuum_worker_slots": "2",
    "io_method": "sync",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
}
# Without recycling, what is packed of such a cluster has one file of the log less, of 16 MB.
_UNSAFE_OPTIONS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "wal_recycle": "off"}
log = structlog.get_logger(__name__)


def _yielding_child() -> Callable[[], None]:
    """Returns a ``preexec_fn`` for a server that ends with its owner and yields the cores to it."""
    end_with_owner = die_with_parent(signal.SIGINT)

    def prepare() -> None:
        end_with_owner()
        lower_priority(NICENESS)

    return prepare


class EmbeddedPostgres:
    """One server over ``folder``; ``start`` returns its address, ``stop`` ends it. Not for two processes at once.

    Call ``start`` from the main thread: the kernel ends the server when the *thread* that started it ends.
    ``durable=False`` trades the disk's safety for speed, for tests. A new cluster begins as what is packed where
    ``prepared`` says, if that can be used.
    """

    def __init__(self, folder: Path, *, durable: bool = True, prepared: Callable[[], Path] | None = None) -> None:
        self.folder = folder.absolute()
        self.cluster = self.folder / "postgres"
        self.log = self.folder / "postgres.log"
        self._durable = durable
        self._prepared = prepared
        self._process: subprocess.Popen[bytes] | None = None
        self._binaries: Path | None = None
        self._sockets: Path | None = None
        self._socket_note = self.folder / "socket.path"
        self._environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "TZ": "UTC"}
        self._owner = find_server_owner()

    @property
    def url(self) -> str:
        """Returns the ``postgresql+asyncpg://…`` URL of the running server."""
        return f"postgresql+asyncpg://offhook@/{_DATABASE}?host={self._sockets}"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self, *, timeout_s: float = 30) -> str:
        """Creates the cluster if needed, starts the server, waits until it accepts connections, returns the address."""
        self.folder.mkdir(parents=True, exist_ok=True)
        binaries = find_binaries(self._owner)
        self._end_previous(timeout_s=15)
        if not self.cluster.exists():
            self._create_cluster(binaries)
        version = (self.cluster / "PG_VERSION").read_text().strip()
        if version != _MAJOR:
            raise PostgresError(
                f"{self.cluster} was created by PostgreSQL {version}, and this is {_MAJOR}: dump it "
                f"with {version} and load the dump with {_MAJOR}."
            )
        if self._owner.uid is not None and self._owner.gid is not None:
            hand_over_folder(self.cluster, self._owner.uid, self._owner.gid)  # of a server that ran as another user
        self._allow_us()
        self._sockets = self._make_socket_folder()
        self._binaries = binaries
        self._wait_until_ready(self._launch_server(binaries), timeout_s)
        return self.url

    def restart_if_dead(self) -> bool:
        """Restarts the server if it exited by itself, and returns whether it did; does not wait until it is ready."""
        if self._process is None or self._process.poll() is None or self._binaries is None:
            return False
        self._launch_server(self._binaries)
        return True

    def stop(self, *, timeout_s: float = 15) -> None:
        """Disconnects all clients, writes a checkpoint and stops the server; harmless if it is not running."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGQUIT)
                process.wait()
        self._remove_socket_folder()

    def _create_cluster(self, binaries: Path) -> None:
        """Creates the cluster beside its place and renames it, so that an interrupted creation leaves nothing."""
        half = self.folder / "postgres.new"
        if not self._unpack_prepared(binaries, half):
            self._empty_folder(half)
            self._initialize_cluster(binaries, half)
        half.rename(self.cluster)
        if self._durable:
            sync_folder(self.folder)

    def _empty_folder(self, folder: Path) -> None:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(mode=0o700)
        self._chown_to_owner(folder)

    def _unpack_prepared(self, binaries: Path, half: Path) -> bool:
        packed = self._prepared() if self._prepared is not None else None
        if packed is None or not packed.exists():
            return False
        self._empty_folder(half)
        try:
            unpack_cluster(packed, half, self._owner)
        except (OSError, DamagedCluster) as error:
            log.warning("prepared_database_unusable", file=str(packed), reason=str(error))
            return False
        if self._durable:
            # One wait for the disk, where one for each of two thousand files would take as long as everything else.
            with self._reachable_path(half) as (path, fds):
                self._run_command([binaries / "initdb", "-D", path, "--sync-only", "--sync-method=syncfs"], fds)
        return True

    def _initialize_cluster(self, binaries: Path, half: Path) -> None:
        options = [*INITDB_OPTIONS, *([] if self._durable else ["--no-sync"])]
        with self._reachable_path(half) as (path, fds):
            self._run_command([binaries / "initdb", "-D", path, *options], fds)
            single: list[str | Path] = [binaries / "postgres", "--single", "-D", path, "postgres"]
            self._run_command(single, fds, stdin=f"CREATE DATABASE {_DATABASE}\n".encode())

    @contextmanager
    def _reachable_path(self, folder: Path) -> Iterator[tuple[str, list[int]]]:
        """Returns a path by which the server's user reaches ``folder``, and the descriptors to inherit for it."""
        if not self._owner.is_other:
            yield str(folder), []
            return
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield f"/proc/self/fd/{fd}", [fd]
        finally:
            os.close(fd)

    def _run_command(self, command: Sequence[str | Path], fds: list[int], stdin: bytes = b"") -> None:
        done = subprocess.run(  # noqa: S603 - our own program
            command,
            check=False,
            input=stdin,
            capture_output=True,
            cwd="/",
            pass_fds=fds,
            env=self._environment,
            user=self._owner.uid,
            group=self._owner.gid,
            extra_groups=self._owner.extra_groups,
        )
        if done.returncode != 0:
            output_lines = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
            reason = output_lines[-1] if output_lines else f"exit code {done.returncode}"
            raise PostgresError(f"The embedded database could not be created in {self.folder}: {reason}")

    def _allow_us(self) -> None:
        """Allows only our own user to connect (as the database user ``offhook``), checked by the kernel."""
        rules = {
            "pg_ident.conf": f"us {pwd.getpwuid(os.geteuid()).pw_name} offhook\n",
            "pg_hba.conf": "local all offhook peer map=us\n",
        }
        for name, lines in rules.items():
            path = self.cluster / name
            path.touch(mode=0o600)  # a prepared cluster comes without them
            path.write_text(lines)
            self._chown_to_owner(path)

    def _launch_server(self, binaries: Path) -> subprocess.Popen[bytes]:
        options = _OPTIONS | {"unix_socket_directories": str(self._sockets), "unix_socket_permissions": "0777"}
        if not self._durable:
            options |= _UNSAFE_OPTIONS
        if self.log.exists() and self.log.stat().st_size > _MAX_LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        with self._reachable_path(self.cluster) as (path, fds), self.log.open("ab") as log:
            command: list[str | Path] = [binaries / "postgres", "-D", path]
            for name, value in options.items():
                command += ["-c", f"{name}={value}"]
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                pass_fds=fds,
                env=self._environment,
                start_new_session=True,  # Ctrl-C in the terminal is for us: we stop the server last
                preexec_fn=_yielding_child(),  # noqa: PLW1509 - two system calls, nothing that locks
                user=self._owner.uid,
                group=self._owner.gid,
                extra_groups=self._owner.extra_groups,
            )
        return self._process

    def _wait_until_ready(self, process: subprocess.Popen[bytes], timeout_s: float) -> None:
        """Waits for the last line of postmaster.pid, where the server reports its state."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise PostgresError(
                    f"The embedded database stopped at start: {self._last_log_line()} (see {self.log})."
                )
            lines = self._pid_lines()
            if len(lines) >= 8 and lines[0] == str(process.pid) and lines[7].strip() == "ready":
                return
            time.sleep(0.01)
        self.stop()
        raise PostgresError(f"The embedded database was not ready within {timeout_s:.0f} s: see {self.log}.")

    def _end_previous(self, timeout_s: float) -> None:
        """Waits for a server whose owner was just killed; removes a pid file that names another process."""
        lines = self._pid_lines()
        if not lines or not lines[0].strip().isdigit():
            return
        pid = int(lines[0])
        deadline = time.monotonic() + timeout_s
        while is_running_in(pid, self.cluster):
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGQUIT)
                deadline = float("inf")
            time.sleep(0.02)
        (self.cluster / "postmaster.pid").unlink(missing_ok=True)

    def _pid_lines(self) -> list[str]:
        try:
            return (self.cluster / "postmaster.pid").read_text().splitlines()
        except OSError:
            return []

    def _make_socket_folder(self) -> Path:
        """Creates the socket folder in the data folder if that path is short and accessible, else privately in /tmp."""
        self._remove_socket_folder()
        inside = self.folder / "socket"
        if not self._owner.is_other and len(os.fsencode(inside)) <= _MAX_SOCKET_PATH:
            inside.mkdir(mode=0o700, exist_ok=True)
            return inside
        parent = "/tmp"  # noqa: S108 - what we make in it is a folder of our own, mode 0700
        runtime = os.environ.get("XDG_RUNTIME_DIR", "")
        if not self._owner.is_other and runtime and len(runtime) < 60 and os.access(runtime, os.W_OK):
            parent = runtime
        made = self._reuse_socket_folder() or Path(tempfile.mkdtemp(prefix=_SOCKET_PREFIX, dir=parent))
        self._chown_to_owner(made)
        self._socket_note.write_text(f"{made}\n{self._identify_folder()}\n")
        return made

    def _identify_folder(self) -> str:
        found = self.folder.stat()
        return f"{found.st_dev}:{found.st_ino}"

    def _noted_socket_folder(self) -> Path | None:
        """Returns the folder that this data folder had last; None in a copy of it, whose original may be in use."""
        try:
            noted, *owner = self._socket_note.read_text().splitlines()
        except (OSError, ValueError):
            return None
        return Path(noted) if not owner or owner[0] == self._identify_folder() else None

    def _reuse_socket_folder(self) -> Path | None:
        """Reuses the last address, so that workers that lost the server find it: created again, never taken over."""
        path = self._noted_socket_folder()
        if path is None or not path.name.startswith(_SOCKET_PREFIX):
            return None
        try:
            path.mkdir(mode=0o700)
        except OSError:
            return None
        return path

    def _remove_socket_folder(self) -> None:
        old = self._noted_socket_folder()
        if old is not None and old.name.startswith(_SOCKET_PREFIX) and old.is_dir() and not old.is_symlink():
            shutil.rmtree(old, ignore_errors=True)

    def _chown_to_owner(self, path: Path) -> None:
        if self._owner.uid is not None and self._owner.gid is not None:
            os.chown(path, self._owner.uid, self._owner.gid)

    def _last_log_line(self) -> str:
        try:
            lines = self.log.read_text(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return lines[-1] if lines else "no message"
